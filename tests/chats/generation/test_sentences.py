from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chats.generation.sentences import split_sentences


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("Use a list, e.g. [1, 2]. See Fig. 3.", ["Use a list, e.g. [1, 2].", "See Fig. 3."]),
        (
            "Dr. Smith and J. Doe wrote it. They left.",
            ["Dr. Smith and J. Doe wrote it.", "They left."],
        ),
        ("Python 3.11 has 0.5 of it. Yes.", ["Python 3.11 has 0.5 of it.", "Yes."]),
        ("He said “Stop.” Then he left.", ["He said “Stop.”", "Then he left."]),
        ("It sorts (in place). It returns None.", ["It sorts (in place).", "It returns None."]),
        ("Call it. os.getcwd() tells where.", ["Call it.", "os.getcwd() tells where."]),
        ("Das gilt z. B. hier. Und dort.", ["Das gilt z. B. hier.", "Und dort."]),
        ("Это т. е. пример. И всё.", ["Это т. е. пример.", "И всё."]),
        (
            "用户身份验证。很好！他说：「走。」然后走了",
            ["用户身份验证。", "很好！", "他说：「走。」", "然后走了"],
        ),
        ("これは文です。次の文です。", ["これは文です。", "次の文です。"]),
        ("هذا نص. هل تفهم؟ نعم.", ["هذا نص.", "هل تفهم؟", "نعم."]),
        ("यह पहला है। यह दूसरा है।", ["यह पहला है।", "यह दूसरा है।"]),
        ("", []),
        (" \n ", []),
    ],
)
def test_sentences_end_where_a_reader_would_stop(text: str, sentences: list[str]) -> None:
    assert list(split_sentences(text)) == sentences


def test_thai_is_split_at_spaces_between_long_phrases() -> None:
    phrase = "ภาษาไพทอนเป็นภาษาโปรแกรมที่อ่านง่ายและเรียนรู้ได้อย่างรวดเร็วมาก"
    assert list(split_sentences(f"{phrase} {phrase}")) == [phrase, phrase]


@given(st.text())
def test_sentences_are_verbatim_and_lose_nothing_but_space(text: str) -> None:
    found = list(split_sentences(text))
    at = 0
    for sentence in found:
        at = text.index(sentence, at) + len(sentence)
    assert "".join("".join(found).split()) == "".join(text.split())


def test_a_long_row_of_points_is_no_trap() -> None:
    began = time.monotonic()
    list(split_sentences("." * 100_000 + "x"))
    assert time.monotonic() - began < 1
