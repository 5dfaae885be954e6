"""How long texts are, in scripts with and without spaces."""

from __future__ import annotations

import pytest

from retrieval.ingest.words import count_words, has_ink


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("three short words", 3),
        ("Größe der Änderung", 3),
        ("用户身份验证", 3),
        ("Python的列表", 3),
        ("한국어는 띄어쓰기", 2),
        ("หน้าแรก", 4),
        ("x" * 100, 10),
    ],
)
def test_two_characters_of_a_script_without_spaces_are_a_word(text: str, count: int) -> None:
    assert count_words(text) == count


@pytest.mark.parametrize("text", ["", " ", "\xa0\u3000", "\u200b\ufeff", "\u00ad", "\x01"])
def test_what_shows_nothing_has_no_ink(text: str) -> None:
    assert not has_ink(text)
    assert has_ink(text + "x")
