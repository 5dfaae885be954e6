"""Where passages stand in the text that they were cut from."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from retrieval.ingest.spans import spans


def cut(text: str, *passages: str) -> list[str | None]:
    return [None if span is None else text[slice(*span)] for span in spans(text, passages)]


def test_white_space_may_differ() -> None:
    assert cut(" a  b\n\tc  d ", "a b", "c d") == ["a  b", "c  d"]


def test_what_stands_twice_is_found_in_order() -> None:
    assert spans("one two one", ["one", "one"]) == [(0, 3), (8, 11)]


def test_what_is_left_out_in_between_does_not_matter() -> None:
    text = "Title\n=====\n\nBody text.\n\nMore."
    assert cut(text, "Body text.", "More.") == ["Body text.", "More."]


def test_a_passage_that_is_not_there_has_no_place_and_takes_none() -> None:
    assert cut("a b c", "x", "b", "") == [None, "b", None]


def test_controls_count_as_blank() -> None:
    assert cut("a\0b\x07c", "ab c") == ["a\0b\x07c"]


def test_places_count_characters_and_not_bytes() -> None:
    assert spans("für 用户 x", ["用户"]) == [(4, 6)]


@given(st.lists(st.text("ab \n\t", min_size=1, max_size=8), max_size=8))
def test_every_part_is_found_where_it_has_ink(parts: list[str]) -> None:
    text = "|".join(parts)
    for part, span in zip(parts, spans(text, parts), strict=True):
        assert (span is None) == (not part.strip())
        if span is not None:
            assert text[slice(*span)].split() == part.split() or "".join(
                text[slice(*span)].split()
            ) == "".join(part.split())
