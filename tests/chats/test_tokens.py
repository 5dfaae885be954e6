"""The estimate against what real vocabularies made of the same texts (token_counts.json)."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from chats.tokens import estimate, least

COUNTED: dict[str, Any] = json.loads((Path(__file__).parent / "token_counts.json").read_text())
PROSE = sorted(set(COUNTED) - {"base64"})
MULTILINGUAL = ("cl100k", "claude", "o200k")


@pytest.mark.parametrize("name", PROSE)
def test_no_more_than_a_tenth_is_missing_in_any_script(name: str) -> None:
    counted = COUNTED[name]["tokens"]
    guess = estimate(COUNTED[name]["text"])
    assert guess >= 0.9 * max(counted.values()) - 1
    assert guess >= 0.97 * max(counted[vocabulary] for vocabulary in MULTILINGUAL)


def test_strings_without_sense_lack_no_more_than_a_third() -> None:
    base64 = COUNTED["base64"]
    assert estimate(base64["text"]) >= max(base64["tokens"].values()) * 2 / 3


@pytest.mark.parametrize("name", ["English", "Python", "Spanish", "French", "German"])
def test_little_of_the_window_is_wasted_on_languages_that_all_models_know(name: str) -> None:
    counted = COUNTED[name]["tokens"]
    assert estimate(COUNTED[name]["text"]) <= 1.75 * min(counted.values())


@pytest.mark.parametrize("name", sorted(COUNTED))
def test_the_least_is_less_than_any_vocabulary_counts(name: str) -> None:
    assert 0 < least(COUNTED[name]["text"]) < min(COUNTED[name]["tokens"].values())


@pytest.mark.parametrize("text", ["", "\ud800", "\0", "\U0010ffff", "\u200b", " " * 1_000])
def test_any_text_can_be_measured(text: str) -> None:
    assert estimate(text) >= least(text) >= 0


def test_every_character_counts() -> None:
    for code in [*range(0x21, 0x3000), *range(0xAC00, 0xAD00), 0x1F600]:
        assert estimate(chr(code)) >= 1, hex(code)


def test_a_megabyte_is_measured_in_no_time() -> None:
    began = time.process_time()
    estimate("The moon pulls the water. " * 40_000)
    assert time.process_time() - began < 2
