"""Plain text → Document: paragraphs apart by blank lines. Above: ingest.parse.

A browser shows such a file as it is, so a paragraph's lines stay lines in `visible`; in the block
they flow together, unless their layout carries meaning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from retrieval.ingest.base import Block, BlockKind, Document
from retrieval.ingest.html.whitespace import collapse, keep_lines
from retrieval.ingest.language import page_language
from retrieval.ingest.words import has_ink

TITLE_CHARS = 120

_BLANK_LINES = re.compile(r"\n(?:[ \t\f]*\n)+")
_ITEM = re.compile(r"[ \t]*(?:[-*+•–]|\(?[0-9a-zA-Z]{1,3}[.)])[ \t]+\S")
_UNDERLINE = re.compile(r"([=\-~^#*+\"'`.:_])\1{2,}")


def parse_text(text: str) -> Document:
    visible: list[str] = []
    blocks: list[Block] = []
    section: tuple[str, ...] = ()
    for paragraph in _paragraphs(text.replace("\r\n", "\n").replace("\r", "\n")):
        visible.append(paragraph)
        kind = _kind(paragraph)
        if kind is BlockKind.HEADING:
            heading = collapse(paragraph.split("\n")[0])
            section = (heading,)
        shown = paragraph if kind is BlockKind.CODE else collapse(paragraph)
        block = Block(
            kind=kind, text=shown, section=section, anchor=None, visible_at=len(visible) - 1
        )
        blocks.append(block)
    return Document(
        title=_title(visible),
        language=page_language("", (block.text for block in blocks)),
        blocks=tuple(blocks),
        visible=tuple(visible),
    )


def _paragraphs(text: str) -> Iterator[str]:
    for part in _BLANK_LINES.split(text):
        lines = keep_lines(part)
        if has_ink(lines):
            yield from _items(lines)


def _items(paragraph: str) -> Iterator[str]:
    """A list without blank lines between its items is one block for each."""
    lines = paragraph.split("\n")
    starts = [index for index, line in enumerate(lines) if _ITEM.match(line)]
    if len(starts) < 2:
        yield paragraph
        return
    edges = sorted({0, *starts, len(lines)})
    for start, end in pairwise(edges):
        yield "\n".join(lines[start:end])


def _kind(paragraph: str) -> BlockKind:
    lines = paragraph.split("\n")
    if len(lines) == 2 and _UNDERLINE.fullmatch(lines[1].strip()):
        return BlockKind.HEADING
    if _ITEM.match(paragraph):
        return BlockKind.LIST_ITEM
    if len(lines) > 1 and all(line[:1] in {" ", "\t"} for line in lines):
        return BlockKind.CODE
    return BlockKind.PARAGRAPH


def _title(paragraphs: list[str]) -> str | None:
    """The first line, where it stands alone or is underlined."""
    if not paragraphs or ("\n" in paragraphs[0] and _kind(paragraphs[0]) is not BlockKind.HEADING):
        return None
    line = collapse(paragraphs[0].split("\n")[0])
    return line if len(line) <= TITLE_CHARS else None
