"""Confidence over the few pages of a first try, with the real model."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.core.management import call_command

from fastrag_site.conf import conf
from retrieval.services import search
from retrieval.types import Mode, Query

HANDBOOK = {
    "espresso": "# Espresso machine\n\nThe machine has a 2 litre tank.\n\n## Cleaning\n\n"
    "Descale the machine every 60 days with citric acid. Rinse the tank twice afterwards.\n",
    "warranty": "# Warranty\n\nThe warranty lasts 24 months from the date of purchase. "
    "Keep the receipt.\n",
    "lamp": "# Lumina 3\n\nThe Lumina 3 is a desk lamp with three brightness levels.\n",
    "gold": "# Gold plan\n\nThe Gold plan includes repairs at home and a lamp on loan.\n",
}
RULES = {
    "rules": "# Garden rules\n\nThe gate is locked at 22:00. Dogs must be kept on a leash. "
    "Water the tomatoes twice a week. Members pay 35 euros a year.\n",
}
HANDBUCH = {
    "garantie": "# Garantie\n\nDie Garantie gilt für die Kaffeemaschine und läuft 24 Monate.\n",
    "pflege": "# Pflege\n\nDie Kaffeemaschine wird alle 60 Tage entkalkt.\n",
}


def sync(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / f"{name}.md").write_text(text)
    call_command("sync", str(folder), "--base-url", "http://docs.example/", verbosity=0)


def confidence(question: str, mode: Mode = Mode.HYBRID) -> float:
    return search(Query(text=question, mode=mode)).confidence


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("files", "answered", "refused"),
    [
        pytest.param(
            HANDBOOK,
            (
                "How often should I descale?",
                "How often should I descale the machine?",
                "How long is the warranty?",
                "How big is the tank?",
                "warranty",
                "What does the Gold plan include?",
            ),
            (
                "How long does it take?",
                "How often do buses run?",
                "What is the capital of Mongolia?",
                "Where can I buy a new tank?",
            ),
            id="handbook of three files",
        ),
        pytest.param(
            RULES,
            (
                "When is the gate locked?",
                "How often should I water the tomatoes?",
                "How much do members pay?",
                "Must dogs be kept on a leash?",
            ),
            ("How long does the battery last?", "How do I train a puppy?"),
            id="a single passage",
        ),
    ],
)
def test_a_few_passages_answer_what_they_say_and_nothing_else(
    tmp_path: Path, files: dict[str, str], answered: tuple[str, ...], refused: tuple[str, ...]
) -> None:
    sync(tmp_path, files)
    threshold = conf().answer_min_confidence
    assert [question for question in answered if confidence(question) < threshold] == []
    assert [question for question in refused if confidence(question) >= threshold] == []


@pytest.mark.django_db(transaction=True)
def test_a_word_that_only_asks_weighs_little_in_other_languages(tmp_path: Path) -> None:
    sync(tmp_path, HANDBUCH)
    assert confidence("Wie lange gilt die Garantie?", Mode.SPARSE) > 0.9
    assert confidence("Wie oft wird die Kaffeemaschine entkalkt?", Mode.SPARSE) > 0.9
    assert confidence("Wie lange lebt ein Elefant?", Mode.SPARSE) < 0.1


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("mode", [Mode.SPARSE, Mode.HYBRID])
@pytest.mark.parametrize("question", ["the", "is it the", "How often?"])
def test_words_that_name_nothing_are_no_ground_for_an_answer(
    tmp_path: Path, question: str, mode: Mode
) -> None:
    sync(tmp_path, HANDBOOK)
    assert confidence(question, mode) < 0.05
