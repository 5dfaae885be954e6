"""Plain text: paragraphs flow, what is laid out stays so."""

from __future__ import annotations

import pytest

from retrieval.ingest.base import BlockKind
from retrieval.ingest.text import parse_text

SOURCE = """\
A MANUAL

The first paragraph is
wrapped over two lines.

Usage
=====

Call it like this:

    tool --verbose \\
         --all

- one item that is
  wrapped
- another
"""


def test_paragraphs_are_apart_by_blank_lines_and_flow() -> None:
    document = parse_text(SOURCE)
    assert [(block.kind, block.text) for block in document.blocks] == [
        (BlockKind.PARAGRAPH, "A MANUAL"),
        (BlockKind.PARAGRAPH, "The first paragraph is wrapped over two lines."),
        (BlockKind.HEADING, "Usage ====="),
        (BlockKind.PARAGRAPH, "Call it like this:"),
        (BlockKind.CODE, "    tool --verbose \\\n         --all"),
        (BlockKind.LIST_ITEM, "- one item that is wrapped"),
        (BlockKind.LIST_ITEM, "- another"),
    ]


def test_visible_text_keeps_its_lines_as_a_browser_shows_the_file() -> None:
    visible = parse_text(SOURCE).visible
    assert visible is not None
    assert "The first paragraph is\nwrapped over two lines." in visible


def test_an_underlined_line_begins_a_section() -> None:
    document = parse_text(SOURCE)
    assert document.blocks[-1].section == ("Usage",)
    assert document.blocks[0].section == ()


@pytest.mark.parametrize(
    ("text", "title"),
    [(SOURCE, "A MANUAL"), ("Title\n=====\n\ntext", "Title"), ("a\nb\n\nc", None), ("", None)],
)
def test_the_title_is_a_first_line_that_stands_alone(text: str, title: str | None) -> None:
    assert parse_text(text).title == title


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_lines_may_end_in_any_way(ending: str) -> None:
    document = parse_text(f"a{ending}b{ending}{ending}c")
    assert [block.text for block in document.blocks] == ["a b", "c"]
