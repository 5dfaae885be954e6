"""All that a page shows, to be searched as a browser searches it. Below: folding, units.

Above: fragments. A term matches within one block, and the first match counts.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from retrieval.ingest.base import Block
from retrieval.ingest.folding import fold
from retrieval.ingest.units import Unit, read_units
from retrieval.ingest.words import UNSPACED_LETTER, count_ink

# Of a page; what comes after has no fragments. To search a page of N characters for all of its
# passages takes time that grows with the square of N, here a few seconds.
MAX_CHARS = 2_000_000
MAX_REJECTED = 100  # matches within a word that are passed over


class Run:
    """Units of one block that a term may join, with their places in the haystack."""

    __slots__ = ("base", "text", "units")

    def __init__(self, text: str, base: int, units: list[Unit]) -> None:
        self.text, self.base, self.units = text, base, units

    def at(self, index: int) -> int:
        return self.base + self.units[index].at

    def to(self, index: int) -> int:
        return self.base + self.units[index].to

    @property
    def ink(self) -> int:
        """Characters that are no white space, from its beginning to its end."""
        last = self.units[-1]
        return last.ink + count_ink(self.text[last.start : last.end]) - self.units[0].ink

    def term(self, first: int, last: int) -> str:
        """The page's own characters, in one line."""
        return " ".join(self.text[self.units[first].start : self.units[last].end].split())


class Haystack:
    """The blocks of one page in order. Units are read block by block, where they are asked for."""

    def __init__(self, visible: Sequence[str]) -> None:
        folded: list[str] = []
        self._starts = [0]
        for text in visible:
            if self._starts[-1] + len(text) > MAX_CHARS:
                break
            folded.append(fold(text))
            self._starts.append(self._starts[-1] + len(folded[-1]) + 1)
        self._visible = visible[: len(folded)]
        self._units: dict[int, list[Unit]] = {}
        # No term holds a line feed, so none matches across blocks.
        self.text = "\n".join(folded)

    def runs(self, block: Block) -> list[Run]:
        """The runs of what the block shows: all of a rendered block, or a piece of it."""
        index = block.visible_at
        if index is None or index >= len(self._visible):
            return []
        text, base = self._visible[index], self._starts[index]
        units = self._units.get(index)
        if units is None:
            units = self._units[index] = read_units(text)
        end = block.ink + count_ink(block.text)
        first = bisect_left(units, block.ink, key=_ink)
        after = bisect_left(units, end, key=_ink)
        if after > first and units[after - 1].ink + _size(text, units[after - 1]) > end:
            after -= 1  # it goes on in the next piece of a long block
        return [Run(text, base, part) for part in _unbroken(units[first:after])]

    def first(self, at: int, to: int, since: int) -> int:
        """Where what stands at `at` to `to` is found first, searching from `since`."""
        term = self.text[at:to]
        found = self.text.find(term, since, to)
        for _ in range(MAX_REJECTED):
            if found == at or not self._is_within_word(found, found + to - at):
                break
            found = self.text.find(term, found + 1, to)
        return found

    def _is_within_word(self, at: int, to: int) -> bool:
        return self._joins(at) or self._joins(to)

    def _joins(self, edge: int) -> bool:
        around = self.text[max(0, edge - 1) : edge + 1]
        return len(around) == 2 and around.isalnum() and not UNSPACED_LETTER.search(around)


def _unbroken(units: list[Unit]) -> Iterator[list[Unit]]:
    start = 0
    for index in range(1, len(units) + 1):
        if index == len(units) or units[index].apart:
            yield units[start:index]
            start = index


def _ink(unit: Unit) -> int:
    return unit.ink


def _size(text: str, unit: Unit) -> int:
    return count_ink(text[unit.start : unit.end])
