"""Markdown is read as its publisher renders it."""

from __future__ import annotations

import pytest

from retrieval.ingest.base import BlockKind
from retrieval.ingest.markdown import MAX_CHARS, parse_markdown, render, slug
from tests.retrieval.ingest.documents import URL, read, texts

SOURCE = """\
---
title: "A guide: part one"
draft: false
---
# Getting *started*

A paragraph that is
wrapped, with `code`, a [link](other.md#x) and “quotes”.

## Install & run

1. First
2. Second

| Option | Meaning |
|--------|---------|
| `-v`   | verbose |

```python
def f():
    return  1
```

## Install & run

Again.
"""


def test_blocks_are_the_rendered_text() -> None:
    document = read(SOURCE, media_type="text/markdown")
    assert texts(document) == [
        "Getting started",
        "A paragraph that is wrapped, with code, a link and “quotes”.",
        "Install & run",
        "First",
        "Second",
        "Option",
        "Meaning",
        "-v",
        "verbose",
        "def f():\n    return  1",
        "Install & run",
        "Again.",
    ]
    assert document.visible == tuple(texts(document))
    assert document.links == ("https://docs.example/guide/other.md",)


def test_headings_have_the_ids_that_publishers_give_them() -> None:
    document = read(SOURCE, media_type="text/markdown")
    headings = [block for block in document.blocks if block.kind is BlockKind.HEADING]
    assert [block.anchor for block in headings] == [
        "getting-started",
        "install--run",
        "install--run-1",
    ]


@pytest.mark.parametrize(
    ("heading", "expected"),
    [
        ("Hello, World!", "hello-world"),
        ("`FASTRAG_KEY` in *use*", "fastrag_key-in-use"),
        ("Größe ändern", "größe-ändern"),
        ("用户 认证", "用户-认证"),
        ("A - B", "a---b"),
    ],
)
def test_slugs_are_made_as_github_makes_them(heading: str, expected: str) -> None:
    assert f'id="{expected}"' in render(f"## {heading}\n")


def test_a_slug_keeps_letters_digits_and_underscores() -> None:
    assert slug(" What's new in 3.11? ") == "whats-new-in-311"


@pytest.mark.parametrize(
    ("source", "title"),
    [
        (SOURCE, "A guide: part one"),
        ("---\ntitle: 'Plain'\n---\n# Other\n", "Plain"),
        ("---\ntitle: Plain words\n---\ntext", "Plain words"),
        ("---\nauthor: x\n---\n# Heading `code`\n", "Heading code"),
        ("# Heading\n", "Heading"),
        ("text\n\n---\ntitle: not front matter\n---\n", None),
        ("Just text.", None),
    ],
)
def test_the_title_is_front_matters_else_the_main_heading(source: str, title: str | None) -> None:
    assert parse_markdown(source, url=URL, robot="x").title == title


def test_front_matter_is_not_shown() -> None:
    assert "draft" not in render(SOURCE)


def test_raw_html_shows_as_text_unless_the_reader_is_a_parser() -> None:
    source = 'Some <b onclick="x()">bold</b> text.\n\n<script>alert(1)</script>\n'
    assert "<b" not in render(source)
    assert "<script" not in render(source)
    assert texts(read(source, media_type="text/markdown")) == ["Some bold text."]


def test_links_of_a_dangerous_kind_are_not_rendered() -> None:
    assert "href" not in render("[x](javascript:alert(1))")


def test_footnotes_are_read_without_their_way_back() -> None:
    document = read("Said[^1].\n\n[^1]: Where.\n", media_type="text/markdown")
    assert texts(document) == ["Said[1].", "Where."]


def test_a_file_too_large_to_render_is_read_as_text_without_fragments() -> None:
    document = read("word " * (MAX_CHARS // 5 + 1), media_type="text/markdown")
    assert document.visible is None
    assert document.blocks
