"""The answers of the default model, over passages as the index gives them."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from django.test import override_settings
from hypothesis import given
from hypothesis import strategies as st

from chats.generation.base import Finished, Piece, Prompt, StopReason, Token
from chats.generation.extractive import ExtractiveModel, answer_to
from chats.generation.wording import language_of, tokens_of
from tests.chats.generation.samples import passage, prompt

# Most tests choose by words alone.
pytestmark = pytest.mark.usefixtures("words_only")

STRPTIME = passage(
    "classmethod datetime.strptime(date_string, format)\n"
    "Return a datetime corresponding to date_string, parsed according to format.\n"
    "datetime.strftime(format)\n"
    "Return a string representing the date and time, controlled by an explicit format string.",
    title="datetime — Basic date and time types",
)
GLOSSARY = passage(
    "The zoo keeps tigers in the north. Visitors feed the ducks every morning.\n"
    "Tickets cost ten coins for adults.",
    number=2,
    title="Zoo",
)


@pytest.fixture(scope="module")
def words_only() -> Iterator[None]:
    with override_settings(FASTRAG={"EMBEDDER": None}):
        yield


async def pieces_of(asked: Prompt, **options: float) -> list[Piece]:
    return [piece async for piece in ExtractiveModel(**options).stream(asked)]


def test_it_quotes_the_sentence_that_answers_with_its_number() -> None:
    assert answer_to(prompt("What do tickets cost?", STRPTIME, GLOSSARY)) == (
        "Tickets cost ten coins for adults. [2]"
    )


def test_it_names_what_a_quoted_sentence_defines() -> None:
    text = answer_to(prompt("How do I parse a string into a datetime?", STRPTIME, GLOSSARY))
    assert text.startswith(
        "`classmethod datetime.strptime(date_string, format)`: Return a datetime"
    )
    assert "[1]" in text


def test_a_question_for_a_term_is_answered_by_its_definition() -> None:
    debate = passage(
        "Many call the snow tiger lock a hindrance. A snow tiger lock per zoo was discussed.\n"
        "Nobody has removed the snow tiger lock so far."
    )
    glossary = passage(
        "snow tiger lock\nWhat keeps visitors and animals apart in winter. See the map.", number=2
    )
    text = answer_to(prompt("What is the snow tiger lock?", debate, glossary))
    assert text.startswith("snow tiger lock: What keeps visitors and animals apart in winter. [2]")


def test_every_sentence_is_verbatim_and_carries_its_number() -> None:
    asked = prompt("Where are tigers, ducks and tickets of the zoo?", GLOSSARY)
    text = answer_to(asked)
    sentences = re.split(r" \[2\]\s*", text)
    assert sentences.pop() == "" and 1 <= len(sentences) <= 4
    for sentence in sentences:
        assert sentence.strip() in GLOSSARY.text


def test_sentences_of_a_page_come_in_reading_order() -> None:
    text = answer_to(prompt("Where are the tigers and the ducks?", GLOSSARY))
    assert text.index("tigers") < text.index("ducks")


def test_announced_code_comes_along() -> None:
    page = passage("Create an environment with the venv command:\n$ python3 -m venv folder")
    assert answer_to(prompt("How do I create an environment?", page)) == (
        "Create an environment with the venv command: [1]\n\n```\n$ python3 -m venv folder\n```"
    )


@pytest.mark.parametrize(
    ("question", "passages"),
    [
        ("What is the price of gold?", []),
        ("What is the price of gold?", [passage("Gold is heavy and soft.", confidence=0.1)]),
        ("What is the price of gold?", [passage("x = 1\ny = 2")]),
    ],
)
def test_it_says_plainly_that_the_pages_do_not_hold_the_answer(
    question: str, passages: list[object]
) -> None:
    text = answer_to(prompt(question, *passages))  # type: ignore[arg-type]
    assert text == "I could not find an answer to this in the indexed pages."


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("What is the capital of France?", "en"),
        ("¿Cuál es la capital de Francia?", "es"),
        ("Was ist die Hauptstadt von Frankreich?", "de"),
        ("Quelle est la capitale de la France ?", "fr"),
        ("Какая столица у Франции?", "ru"),
        ("法国的首都是哪里?", "zh"),
        ("フランスの首都はどこですか?", "ja"),
        ("ما هي عاصمة فرنسا؟", "ar"),
        ("Gibberish xyzzy", "en"),
        ("", "en"),
    ],
)
def test_it_says_so_in_the_language_of_the_question(question: str, language: str) -> None:
    assert language_of(question) == language
    assert bool(answer_to(prompt(question)))
    same = answer_to(prompt(question)) == answer_to(prompt("What is it?"))
    assert same == (language == "en")


@pytest.mark.parametrize(
    ("question", "text", "language", "expected"),
    [
        (
            "用户怎么登录?",
            "系统很快。用户通过令牌登录。数据在这里。",
            "zh",
            "用户通过令牌登录。 [1]",
        ),
        ("Wie sortiert man Listen?", "Hunde bellen. Listen sortiert man mit sort.", "de", None),
        ("كيف تسجل المستخدمين؟", "النظام سريع. تسجل المستخدمين بالرمز.", "ar", None),
    ],
)
def test_it_quotes_in_other_scripts(
    question: str, text: str, language: str, expected: str | None
) -> None:
    answer = answer_to(prompt(question, passage(text, language=language)))
    last = re.split(r"(?<=[.。])\s*", text)[-2 if language != "zh" else 1]
    assert answer == (expected or f"{last} [1]")


async def test_it_streams_word_by_word() -> None:
    *tokens, end = await pieces_of(prompt("What do tickets cost?", GLOSSARY))
    assert [piece.text for piece in tokens if isinstance(piece, Token)] == [
        "Tickets",
        " cost",
        " ten",
        " coins",
        " for",
        " adults.",
        " [2]",
    ]
    assert isinstance(end, Finished) and end.reason is StopReason.STOP
    assert end.usage is not None and end.usage.completion_tokens == 7


async def test_it_ends_at_the_token_limit() -> None:
    pieces = await pieces_of(prompt("What do tickets cost?", GLOSSARY, max_tokens=2))
    assert "".join(piece.text for piece in pieces if isinstance(piece, Token)) == "Tickets cost"
    assert isinstance(pieces[-1], Finished) and pieces[-1].reason is StopReason.LENGTH


@given(st.text())
def test_tokens_add_up_to_the_text(text: str) -> None:
    assert "".join(tokens_of(text)) == text


@given(st.text(max_size=400), st.text(max_size=100))
def test_no_text_and_no_question_is_a_trap(text: str, question: str) -> None:
    assert answer_to(prompt(question, passage(text, section=(text[:20],))))
