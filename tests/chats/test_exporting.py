"""A conversation as a file, with its sources (API.md, Routes)."""

from __future__ import annotations

import pytest
from django.test import Client

from chats.exporting import as_markdown, file_name
from chats.models import Chat, Message
from tests.chats.test_views import ann, error_of
from tests.factories import ChatFactory, MessageFactory, exchange

__all__ = ["ann"]

SOURCE = {
    "url": "https://docs.example/tides_(sea)",
    "title": "Tides [and] *moon*",
    "site_name": None,
    "favicon_url": None,
    "positions": [1, 3],
    "fragments": [{"start": "The moon pulls", "end": None}, {"start": "High-tide", "end": "day"}],
}


def question(content: str) -> Message:
    return Message(position=0, role="user", content=content)


def answer(content: str, **values: object) -> Message:
    values = {"finish_reason": "stop", **values}
    return Message(position=1, role="assistant", content=content, **values)


def test_questions_are_quoted_answers_stand_and_sources_link_to_their_passages() -> None:
    messages = [question("Why?\n\n# Really"), answer("Because [1].", sources=[SOURCE])]
    assert as_markdown("Tides & *moon*", messages) == (
        "# Tides & \\*moon\\*\n\n"
        "> Why?\n>\n> # Really\n\n"
        "Because [1].\n\n"
        "Sources:\n\n"
        "- \\[1\\]\\[3\\] [Tides \\[and\\] \\*moon\\*]"
        "(https://docs.example/tides_%28sea%29"
        "#:~:text=The%20moon%20pulls&text=High%2Dtide,day)\n"
    )


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"finish_reason": "interrupted"}, "Half.\n\n*The answer was interrupted.*"),
        ({"finish_reason": "length"}, "Half.\n\n*The answer reached its longest length.*"),
        (
            {"finish_reason": "error", "error_code": "TIMEOUT", "error_message": "Too late."},
            "Half.\n\n*The answer failed: Too late.*",
        ),
    ],
)
def test_an_answer_that_is_not_whole_says_so(values: dict[str, object], words: str) -> None:
    assert as_markdown("T", [answer("Half.", **values)]) == f"# T\n\n{words}\n"


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Why are there tides?", "why-are-there-tides.md"),
        ("潮汐 的原因", "潮汐-的原因.md"),
        ("???", "chat.md"),
        ("../../etc/passwd", "etcpasswd.md"),
        ("x" * 200, "x" * 60 + ".md"),
    ],
)
def test_a_file_is_named_after_its_chat(title: str, name: str) -> None:
    assert file_name(title, "md") == name


@pytest.fixture
def chat() -> Chat:
    made = ChatFactory(title="Tides")
    exchange(made, 0, content="Because [1].", sources=[SOURCE])
    MessageFactory(chat=made, position=1, is_current=False, content="An earlier answer.")
    return made


@pytest.mark.django_db
@pytest.mark.parametrize("query", ["", "?as=markdown"])
def test_markdown_is_served_as_a_file_of_the_newest_answers(
    ann: Client, chat: Chat, query: str
) -> None:
    response = ann.get(f"/api/chats/{chat.id}/export{query}")
    assert response.status_code == 200
    assert response.headers["Content-Type"] == "text/markdown; charset=utf-8"
    assert response.headers["Content-Disposition"] == 'attachment; filename="tides.md"'
    text = response.content.decode()
    assert "Because [1]." in text and "docs.example" in text and "earlier" not in text


@pytest.mark.django_db
def test_json_is_the_chat_as_it_is_read_elsewhere(ann: Client, chat: Chat) -> None:
    response = ann.get(f"/api/chats/{chat.id}/export?as=json")
    assert response.headers["Content-Type"] == "application/json"
    assert response.headers["Content-Disposition"] == 'attachment; filename="tides.json"'
    assert response.json() == ann.get(f"/api/chats/{chat.id}").json()
    assert response.json()["messages"][1]["sources"] == [SOURCE]


@pytest.mark.django_db
def test_another_format_is_refused(ann: Client, chat: Chat) -> None:
    error = error_of(ann.get(f"/api/chats/{chat.id}/export?as=pdf"), 400)
    assert list(error["fields"]) == ["as"]


@pytest.mark.parametrize(
    ("said", "end"),
    [
        ("So:\n```python\nimport x", "\n```"),
        ("So:\n  ~~~~\n```\n~~~\nx", "\n~~~~"),
        ("So:\n````\n```\nx\n```", "\n````"),
        ("So:\n```\nx\n```", ""),
        ("So: ```x``` and `y`.", ""),
        ("So:\n```x``` and `y`.", ""),
        ("So:\n\n    ```\n", ""),
    ],
)
def test_code_that_was_cut_short_ends_before_what_follows(said: str, end: str) -> None:
    shown = as_markdown("T", [answer(said, finish_reason="interrupted")])
    assert shown == f"# T\n\n{said}{end}\n\n*The answer was interrupted.*\n"
