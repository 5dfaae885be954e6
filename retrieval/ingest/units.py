"""A block's text → the units that a search term may begin and end with. Below: words, folding.

Text fragments match at word boundaries only, as the browser's own dictionaries and Unicode's rules
see them. Units end where every one of them sees a boundary: at spaces, and in scripts without
spaces at punctuation and where another script begins.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

from retrieval.ingest.folding import fold
from retrieval.ingest.words import UNSPACED_LETTER, is_invisible

_TOKEN = re.compile(r"\S+")
# A search takes a no-break space for a space; of other white space it is not sure.
_JOINING = frozenset({" ", "\xa0"})
_ZERO_WIDTH_SPACE = "\u200b"


class Unit(NamedTuple):
    """`at` and `to` count in the folded block, `ink` in characters that are no white space."""

    start: int
    end: int
    at: int
    to: int
    ink: int
    apart: bool  # no term holds this unit and the one before
    closes: bool  # a term may end here


def read_units(text: str) -> list[Unit]:
    return _plain_units(text) if text.isascii() else _folded_units(text)


def _plain_units(text: str) -> list[Unit]:
    """The same for text that folds character by character, which most is."""
    units: list[Unit] = []
    previous = at = ink = 0
    for match in _TOKEN.finditer(text):
        start, end = match.span()
        apart = not units or text[previous:start] != " "
        to = at + end - start
        units.append(Unit(start, end, at, to, ink, apart, True))
        at, ink, previous = to + 1, ink + end - start, end
    return units


def _folded_units(text: str) -> list[Unit]:
    units: list[Unit] = []
    previous, at, ink, apart = 0, 0, 0, True
    for match in _TOKEN.finditer(text):
        start, end = match.span()
        token = match[0]
        size = len(token) if token.isascii() else len(fold(token))
        if not size:
            apart = True  # invisible, with a space on either side that a term cannot know of
        else:
            apart = apart or text[previous:start] not in _JOINING
            at += 1 if units else 0
            if token.isascii():
                units.append(Unit(start, end, at, at + size, ink, apart, True))
            else:
                units += _of_token(text, start, end, at, ink, apart)
            at += size
            apart = False
        ink += end - start
        previous = end
    return units


def _of_token(text: str, start: int, end: int, at: int, ink: int, apart: bool) -> Iterator[Unit]:
    token, first = text[start:end], start
    edges = [*_breaks(text, start, end), end] if UNSPACED_LETTER.search(token) else [end]
    for edge in edges:
        to = at + len(fold(text[start:edge]))
        left, right = _trimmed(text, start, edge)
        if to > at:
            closes = _closes(text, right, end)
            yield Unit(left, right, at, to, ink + start - first, apart, closes)
            apart = False
        start, at = edge, to


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and is_invisible(text[start]):
        start += 1
    while start < end and is_invisible(text[end - 1]):
        end -= 1
    return start, end


def _closes(text: str, end: int, limit: int) -> bool:
    """A soft hyphen, joiner or the like after a word belongs to it, so no boundary is before."""
    if unicodedata.name(text[end - 1], "").startswith("VARIATION SELECTOR"):
        return False
    return end == limit or text[end] == _ZERO_WIDTH_SPACE or not is_invisible(text[end])


def _breaks(text: str, start: int, end: int) -> Iterator[int]:
    """Inner boundaries of a token that has letters of a script without spaces."""
    before = _kind(text[start])
    for index in range(start + 1, end):
        kind = _kind(text[index])
        if kind == "mark":
            continue
        if kind != before and "join" not in (kind, before):
            turns = kind in _LETTERS and before in _LETTERS
            if turns or (before == "stop" and kind in _LETTERS) or kind == "open":
                yield index
        before = kind


_LETTERS = frozenset({"unspaced", "spaced"})


def _kind(character: str) -> str:
    if UNSPACED_LETTER.match(character):
        return "unspaced" if unicodedata.category(character)[0] != "M" else "mark"
    category = unicodedata.category(character)
    if category[0] == "M":
        return "mark"
    if category[0] in "LN":
        return "spaced"
    if character.isascii():
        return "join"  # "." and "'" hold words together, "_" too
    if category in {"Ps", "Pi"}:
        return "open"
    return "stop" if category[0] == "P" and category != "Pc" else "join"
