"""Numbers of earlier answers are not mistaken for those of this turn's passages."""

from __future__ import annotations

import pytest

from chats.earlier import told, without_citations
from chats.generation.base import Turn


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("The moon does. [1]", "The moon does."),
        ("The moon [1][2] and the sun [13].", "The moon and the sun."),
        ("Born in 1912[1], he", "Born in 1912, he"),
        ("Both [1, 2] and [3-5] and [6; 7].", "Both and and."),
        ("„Der Mond“ [1]\n\n„Die Sonne“ [2]", "„Der Mond“\n\n„Die Sonne“"),
        ("月が引く[1]。", "月が引く。"),
        ("The moon【4†source】.", "The moon."),
    ],
)
def test_citations_are_taken_out(answer: str, expected: str) -> None:
    assert without_citations(answer) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Take `x[1]` of it.",
        "```python\nx[1] = y[2]\n```",
        "~~~\nx[1]\n~~~",
        "```\nnever closed x[1]",
        "``x[1] and ` too``",
        "See [1](https://site.example/) and [RFC 2616], [a], [1234], [].",
        "",
    ],
)
def test_code_links_and_other_brackets_stay(text: str) -> None:
    assert without_citations(text) == text


def test_citations_around_code_are_taken_out() -> None:
    said = "Use `x[1]` [1].\n\n```\ny[2]\n```\nDone [2]."
    assert without_citations(said) == "Use `x[1]`.\n\n```\ny[2]\n```\nDone."


def test_a_long_answer_of_brackets_takes_no_time() -> None:
    without_citations("[1" * 20_000 + "`" * 20_000)


def test_partial_answers_are_told_and_empty_ones_are_not() -> None:
    history = [
        Turn(question="One?", answer="It was cut sh"),
        Turn(question="Two?", answer=""),
        Turn(question="Three?", answer=" [1] \n"),
        Turn(question="Four?", answer="4 [2]"),
    ]
    assert told(history) == (
        Turn(question="One?", answer="It was cut sh"),
        Turn(question="Four?", answer="4"),
    )
