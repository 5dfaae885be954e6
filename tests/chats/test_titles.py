from __future__ import annotations

import pytest

from chats.titles import title_from


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("How do I index a site?", "How do I index a site?"),
        ("  Two\n\n lines\tof text ", "Two lines of text"),
        ("control \x07 and \u2028 separators", "control and separators"),
        ("\u200b", "…"),
        ("one two three four", "one two…"),
        ("one two, three", "one two…"),
        ("exactly-ten", "exactly-t…"),
        ("用户身份验证是怎么工作的呢", "用户身份验证是怎么…"),
        ("abcdefghe\u0301fgh", "abcdefgh…"),
    ],
)
def test_a_title_is_the_question_cut_at_a_word(question: str, title: str) -> None:
    limit = 10 if title.endswith("…") and len(question) > 10 else 80
    assert title_from(question, limit=limit) == title


def test_a_title_is_never_longer_than_its_limit() -> None:
    assert all(len(title_from("word " * 100, limit=limit)) <= limit for limit in range(5, 90))
