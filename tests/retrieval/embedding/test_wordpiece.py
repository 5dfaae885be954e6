from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.embedding.wordpiece import WordPiece, words

VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "un", "##aff", "##able"]
VOCABULARY += ["hello", ",", "!", "我", "cafe", "c", "##++", "world"]


@pytest.fixture
def tokens() -> WordPiece:
    return WordPiece(VOCABULARY, max_tokens=8)


def pieces(tokens: WordPiece, text: str) -> list[str]:
    return [VOCABULARY[id_] for id_ in tokens.encode(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("unaffable", "un ##aff ##able"),
        ("Hello, world!", "hello , world !"),
        ("Café", "cafe"),
        ("我hello", "我 hello"),
        ("unknownword", "[UNK]"),
        ("hello\u200b\x00world hello\tworld", "[UNK] hello world"),
        ("x" * 101, "[UNK]"),
        ("", ""),
    ],
)
def test_words_become_their_longest_known_pieces(
    tokens: WordPiece, text: str, expected: str
) -> None:
    assert pieces(tokens, text) == ["[CLS]", *expected.split(), "[SEP]"]


def test_a_long_text_is_cut_and_keeps_its_end_mark(tokens: WordPiece) -> None:
    found = pieces(tokens, "hello " * 50)
    assert len(found) == 8
    assert found[-1] == "[SEP]"


def test_a_cased_vocabulary_keeps_case_and_accents() -> None:
    assert list(words("Café Été", lower=False)) == ["Café", "Été"]


@given(st.text())
def test_any_text_has_tokens(text: str) -> None:
    found = WordPiece(VOCABULARY, max_tokens=8).encode(text)
    assert 2 <= len(found) <= 8
