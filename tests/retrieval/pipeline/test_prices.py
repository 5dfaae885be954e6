from __future__ import annotations

from time import process_time

import pytest

from retrieval.pipeline.prices import price_share


@pytest.mark.parametrize(
    "question",
    [
        "What does the Lumina 3 cost?",
        "How much does the Gold plan cost?",
        "What is the price of the Gold plan?",
        "Was kostet der Tarif Gold?",
        "¿Cuánto cuesta el plan?",
        "Combien coûte le forfait ?",
        "Quanto costa il piano?",
        "Сколько стоит подписка?",
    ],
)
def test_a_price_is_not_answered_by_a_passage_without_one(question: str) -> None:
    assert price_share(question, "The Gold plan of 2024 includes repairs at home.") < 0.5
    assert price_share(question, "Gold: 12 € a month.") == 1.0


@pytest.mark.parametrize(
    "passage",
    [
        "The Gold plan costs twelve a month.",
        "Gold is free for schools.",
        "Members pay 35 a year.",
        "Gold: 12 EUR",
        "$12",
        "Die Jahresgebühr für Gold: 12",
    ],
)
def test_a_price_is_told_in_many_ways(passage: str) -> None:
    assert price_share("How much does Gold cost?", passage) == 1.0


@pytest.mark.parametrize(
    "question",
    ["What does the Gold plan include?", "gold plan", "cost function", "How much time is left?"],
)
def test_other_questions_ask_for_no_price(question: str) -> None:
    assert price_share(question, "The Gold plan includes repairs at home.") == 1.0


def test_a_long_question_takes_no_long_time() -> None:
    began = process_time()
    price_share("how much what do was " * 400, "kost" * 2_000)
    assert process_time() - began < 0.25
