"""Passages found again by their fragments: whole ones, and never a wrong one."""

from __future__ import annotations

import pytest

from retrieval.models import Page
from retrieval.selectors import passages_at
from retrieval.types import Fragment
from tests.factories import ChunkFactory, PageFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def page() -> Page:
    page = PageFactory.create()
    terms = [("a", "b"), ("c", "d"), ("e", ""), ("", ""), ("g", "h")]
    for position, (start, end) in enumerate(terms):
        text = f"text {position}"
        ends = {"fragment_start": start, "fragment_end": end}
        ChunkFactory.create(page=page, position=position, text=text, **ends)
    return page


@pytest.mark.parametrize(
    ("fragment", "text"),
    [
        (Fragment(start="a", end="b"), "text 0"),
        (Fragment(start="e", end=None), "text 2"),
        (Fragment(start="a", end="d"), "text 0\ntext 1"),  # chunks that were joined
        (Fragment(start="c", end="e"), "text 1\ntext 2"),
    ],
)
def test_a_passage_is_found_by_its_ends(page: Page, fragment: Fragment, text: str) -> None:
    assert passages_at(page.url, [fragment]) == [text]


def test_passages_come_in_the_order_of_their_fragments(page: Page) -> None:
    fragments = [Fragment(start="g", end="h"), Fragment(start="c", end="d")]
    assert passages_at(page.url, fragments) == ["text 4", "text 1"]


@pytest.mark.parametrize("ends", [("x", "b"), ("c", "b"), ("a", "x")])
def test_what_the_page_does_not_hold_any_more_is_left_out(
    page: Page, ends: tuple[str, str]
) -> None:
    assert passages_at(page.url, [Fragment(start=ends[0], end=ends[1])]) == []
    assert passages_at("https://gone.example/", [Fragment(start="a", end="b")]) == []
