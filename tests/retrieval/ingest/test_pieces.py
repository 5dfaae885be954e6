"""Long texts are cut where a reader would pause, and nothing is lost."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.ingest.pieces import pack, split
from retrieval.ingest.words import count_words
from tests.retrieval.ingest.documents import words

CHINESE = "用户身份验证的方法，以及如何登录系统。" * 30
THAI = "หน้านี้อธิบายการตั้งค่าเซิร์ฟเวอร์และวิธีเข้าสู่ระบบ" * 20


def pieces(text: str, *, target: int = 16, maximum: int = 20) -> list[str]:
    return [text[start:end] for start, end in split(text, target=target, maximum=maximum)]


def test_prose_is_cut_at_sentences() -> None:
    text = " ".join(words(6, start=n * 6).capitalize() for n in range(10))
    assert len(pieces(text)) > 2
    assert all(piece.endswith(".") for piece in pieces(text))


def test_code_is_cut_at_blank_lines_then_at_lines() -> None:
    code = "def f():\n    a b c d e f\n    g h i j k l\n\n" * 4
    assert all(piece.startswith("def f") for piece in pieces(code))
    long = "\n".join(f"{n} a b c d e f g" for n in range(12))
    assert all(piece.endswith("g") for piece in pieces(long))


def test_an_endless_sentence_is_cut_between_words() -> None:
    text = words(100)
    assert " ".join(pieces(text)) == text


def test_chinese_is_cut_at_punctuation() -> None:
    cut = pieces(CHINESE)
    assert "".join(cut) == CHINESE
    assert all(piece.endswith(("。", "，")) for piece in cut)


def test_text_without_any_pause_is_cut_before_no_mark_and_after_no_leading_vowel() -> None:
    cut = pieces(THAI)
    assert len(cut) > 1
    for piece in cut:
        assert unicodedata.category(piece[0])[0] != "M"
        assert piece[-1] not in "เแโใไ"


@pytest.mark.parametrize("text", ["", "   ", "short"])
def test_short_texts_are_left_whole(text: str) -> None:
    assert pieces(text) == ([text.strip()] if text.strip() else [])


@given(st.text(alphabet="ab .。，\n用户กิ́", max_size=300))
def test_pieces_hold_all_of_the_text_in_order_within_the_maximum(text: str) -> None:
    cut = pieces(text, target=4, maximum=5)
    assert "".join("".join(cut).split()) == "".join(text.split())
    assert all(piece == piece.strip() and piece for piece in cut)
    assert all(count_words(piece) <= 5 for piece in cut)


@given(st.lists(st.integers(0, 30), max_size=40))
def test_packing_keeps_the_order_and_the_maximum(sizes: list[int]) -> None:
    runs = list(pack(sizes, target=16, maximum=20))
    assert [n for first, after in runs for n in range(first, after)] == list(range(len(sizes)))
    for first, after in runs:
        assert after == first + 1 or sum(sizes[first:after]) <= 20


def test_what_fits_is_one_run_and_the_rest_is_balanced() -> None:
    assert list(pack([10, 10], target=16, maximum=20)) == [(0, 2)]
    assert list(pack([7, 7, 7], target=16, maximum=20)) == [(0, 2), (2, 3)]
    assert list(pack([4] * 8, target=16, maximum=20)) == [(0, 4), (4, 8)]
