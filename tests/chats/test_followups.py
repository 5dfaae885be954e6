"""A follow-up without words of its own borrows the questions before it."""

from __future__ import annotations

import pytest

from chats.followups import leans_back, query_for
from chats.generation.base import Turn


def turns(*questions: str) -> list[Turn]:
    return [Turn(question=question, answer="An answer.") for question in questions]


@pytest.mark.parametrize(
    "question",
    [
        "When was he born?",
        "yes, please",
        "And how often?",
        "How does it work?",
        "What about its performance on large lists?",
        "Why?",
        "???",
        "¿Y por qué?",
        "Wie funktioniert das?",
        "Und warum?",
        "Et pourquoi ?",
        "А где она?",
        "他什么时候出生?",
        "它怎么工作?",
        "それはいつですか？",
        "ماذا عن ذلك؟",
    ],
)
def test_a_question_that_points_back_is_a_follow_up(question: str) -> None:
    assert leans_back(question)
    assert "Alan Turing" in query_for(question, turns("Who was Alan Turing?"))


@pytest.mark.parametrize(
    "question",
    [
        "Is it possible to read a CSV file with pandas?",
        "What is asyncio?",
        "asyncio?",
        "How do I index a site?",
        "¿Qué es un decorador?",
        "Was ist das GIL?",
        "Qu'est-ce que le module venv ?",
        "Что такое декоратор?",
        "列表怎么排序?",
        "リストの並べ替え方法は?",
        "ما هي البرمجة غير المتزامنة؟",
    ],
)
def test_a_question_with_a_topic_of_its_own_is_searched_as_asked(question: str) -> None:
    assert query_for(question, turns("Who was Alan Turing?")) == question


def test_the_first_question_borrows_nothing() -> None:
    assert query_for("When was he born?", []) == "When was he born?"


def test_a_follow_up_of_a_follow_up_reaches_the_topic() -> None:
    history = turns("Who was Alan Turing?", "When was he born?")
    assert query_for("And where?", history) == "When was he born? Who was Alan Turing?"


def test_what_came_before_the_topic_is_left_alone() -> None:
    history = turns("How do I sort a list?", "Who was Alan Turing?")
    assert "sort" not in query_for("When was he born?", history)


def test_where_nothing_can_be_borrowed_the_question_stays() -> None:
    assert query_for("Why?", turns("yes", "no")) == "Why?"
