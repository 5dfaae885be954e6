"""Markup that would take a parser minutes takes seconds, and its text is kept."""

from __future__ import annotations

import time

import pytest

from retrieval.ingest.html import walker
from retrieval.ingest.html.guard import tame
from tests.retrieval.ingest.documents import page, texts

SECONDS = 20.0  # generous: these take one or two, the untamed cases minutes


@pytest.mark.parametrize(
    "markup",
    [
        "<p>a</p>" + "<div>" * 100_000 + "deep",
        "<ul><li>" * 100_000 + "deep",
        "<span>" * 100_000 + "deep",
        "<table><tr><td>" * 30_000 + "deep",
        "<div>" * 100_000 + "deep" + "</div>" * 100_000,
        "<p " + " ".join(f"a{n}=1" for n in range(200_000)) + ">deep",
    ],
    ids=["div", "ul", "span", "table", "closed", "attributes"],
)
def test_deep_or_wide_markup_is_read_in_bounded_time(markup: str) -> None:
    start = time.monotonic()
    document = page(markup)
    assert time.monotonic() - start < SECONDS
    assert texts(document)[-1] == "deep"


def test_a_page_of_ten_megabytes_is_read_in_bounded_time() -> None:
    paragraph = f"<p>{'Some <b>words</b> of a paragraph, and some more of them. ' * 10}</p>\n"
    start = time.monotonic()
    document = page(paragraph * (10_000_000 // len(paragraph)))
    assert time.monotonic() - start < SECONDS
    assert len(document.blocks) == 10_000_000 // len(paragraph)


def test_a_page_of_endless_blocks_is_read_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walker, "MAX_BLOCKS", 10)
    document = page("".join(f"<p>{n}</p>" for n in range(20)))
    assert texts(document) == [str(n) for n in range(10)]


def test_ordinary_markup_is_left_alone() -> None:
    markup = '<p class="a"><img src="data:image/png;base64,' + "A" * 10_000 + '"></p>' * 3
    assert tame(markup) == markup


def test_what_follows_deep_markup_is_nested_as_before() -> None:
    deep = "<div>" * 30_000 + "</div>" * 30_000
    assert tame(deep + "<p>after</p>").endswith("</div><p>after</p>")
