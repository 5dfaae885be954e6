"""The lines of PDF pages → blocks: paragraphs joined, words unbroken, running heads left out.

Pure; above: ingest.pdf. A PDF says where glyphs stand, not what they mean, so all of this is a
reading of line lengths; only headings that the outline names are sure.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from retrieval.ingest.base import Block, BlockKind
from retrieval.ingest.words import has_ink

SHORT = 0.7  # of a page's usual line: a shorter line ends its paragraph
USUAL = 0.9  # quantile of the line lengths of a page
REPEATED = 3  # pages that share a first or last line, numbers aside: it is a running head

_LIGATURES = str.maketrans(
    {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"}
)
# How the parser marks a hyphen at a line end.
_LINE_HYPHEN = re.compile("[\u0002\ufffe](?:\r?\n)?|\u00ad\r?\n")
_SURROGATE = re.compile("[\ud800-\udfff]")
_BROKEN_WORD = re.compile(r"(\w+)-\n(\w+)")
_WORD = re.compile(r"[\w-]+")
_BULLET = re.compile(r"\s*(?:[•◦▪‣–*]|[-−](?=\s)|\(?[0-9]{1,2}[.)]\s|\(?[a-z][.)]\s)")
_PAGE_NUMBER = re.compile(
    r"\W*(?:page\s*)?(?:[0-9]+|[ivxlc]+)(?:\s*(?:/|of)\s*[0-9]+)?\W*", re.IGNORECASE
)
_NUMBERING = re.compile(
    r"\s*(?:chapter\s+|appendix\s+)?(?:[0-9]+|[A-Z])(?:\.[0-9]+)*\.?[\s:]+", re.IGNORECASE
)
_DIGITS = re.compile(r"[0-9]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One line of a document's outline. `level` and `page` count from 0."""

    level: int
    title: str
    page: int


def read_blocks(pages: Sequence[str], outline: Sequence[Entry]) -> tuple[Block, ...]:
    lines = [_lines(page) for page in pages]
    heads = _running_heads(lines)
    words = Counter(word for page in lines for line in page for word in _WORD.findall(line))
    section = _Section(outline)
    blocks: list[Block] = []
    for number, page in enumerate(lines):
        for kind, text in _paragraphs(_without(heads, page), section.titles(number)):
            shown = _joined(text, words)
            if not has_ink(shown):
                continue
            if kind is BlockKind.HEADING:
                section.enter(text, number)
            path = (*section.path(), f"page {number + 1}")
            blocks.append(Block(kind=kind, text=shown, section=path, anchor=None))
    return tuple(blocks)


@dataclass(slots=True)
class _Section:
    """Follows the outline while the pages go by."""

    outline: Sequence[Entry]
    _open: list[Entry] = field(default_factory=list)

    def titles(self, page: int) -> frozenset[str]:
        return frozenset(_key(entry.title) for entry in self.outline if entry.page == page)

    def enter(self, heading: str, page: int) -> None:
        key = _key(heading)
        for entry in self.outline:
            if entry.page == page and _key(entry.title) == key:
                self._open = [one for one in self._open if one.level < entry.level] + [entry]
                return

    def path(self) -> tuple[str, ...]:
        return tuple(" ".join(entry.title.split()) for entry in self._open)


def _key(heading: str) -> str:
    """Equal for a heading and its title in the outline, which may come without its number."""
    bare = _NUMBERING.sub("", heading) or heading
    return "".join(filter(str.isalnum, bare.casefold()))


def _lines(page: str) -> list[str]:
    text = _SURROGATE.sub("", _LINE_HYPHEN.sub("-\n", page)).translate(_LIGATURES)
    stripped = (line.strip() for line in text.replace("\r", "\n").split("\n"))
    return [line for line in stripped if line]


def _running_heads(pages: Sequence[list[str]]) -> frozenset[str]:
    edges = Counter(
        edge for lines in pages for edge in {_DIGITS.sub("#", line) for line in _edges(lines)}
    )
    return frozenset(line for line, count in edges.items() if count >= REPEATED)


def _edges(lines: list[str]) -> list[str]:
    return [lines[0], lines[-1]] if lines else []


def _without(heads: frozenset[str], lines: list[str]) -> list[str]:
    def is_head(line: str) -> bool:
        return _DIGITS.sub("#", line) in heads or _PAGE_NUMBER.fullmatch(line) is not None

    start = 1 if lines and is_head(lines[0]) else 0
    end = len(lines) - 1 if len(lines) > start and is_head(lines[-1]) else len(lines)
    return lines[start:end]


def _paragraphs(lines: list[str], titles: frozenset[str]) -> Iterator[tuple[BlockKind, str]]:
    """Kind and text, lines still apart."""
    lengths = sorted(map(len, lines))
    usual = lengths[int(USUAL * (len(lengths) - 1))] if lengths else 0
    paragraph: list[str] = []
    for line in lines:
        is_heading = _key(line) in titles
        if paragraph and (is_heading or _BULLET.match(line) or len(paragraph[-1]) < SHORT * usual):
            yield _kind(paragraph), "\n".join(paragraph)
            paragraph = []
        if is_heading:
            yield BlockKind.HEADING, line
        else:
            paragraph.append(line)
    if paragraph:
        yield _kind(paragraph), "\n".join(paragraph)


def _kind(paragraph: list[str]) -> BlockKind:
    return BlockKind.LIST_ITEM if _BULLET.match(paragraph[0]) else BlockKind.PARAGRAPH


def _joined(text: str, words: Counter[str]) -> str:
    """In one line; a hyphen at a line end stays where the document has the word with it."""

    def join(match: re.Match[str]) -> str:
        head, tail = match[1], match[2]
        keeps = not tail[0].islower() or words[f"{head}-{tail}"] > words[head + tail]
        return f"{head}-{tail}" if keeps else head + tail

    return " ".join(_BROKEN_WORD.sub(join, text).split())
