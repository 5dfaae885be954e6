"""Text fragments: the terms by which a browser finds a passage on its page, and no earlier one.

Follows the URL Fragment Text Directives specification: each term lies in one block, matches at
word boundaries, and the first match counts; the end is searched after the start. Below: haystack.
Above: chunk; chats and commands use `directive` and `join`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from urllib.parse import quote

from retrieval.ingest.base import Block
from retrieval.ingest.haystack import Haystack, Run
from retrieval.ingest.words import count_ink
from retrieval.types import Fragment

WHOLE_CHARS = 80  # a passage up to this long is a single term
LEAST_WORDS = 4  # of a term, where there are so many: it outlives small edits elsewhere
LEAST_BYTES = 20
TINY_BYTES = 4  # a whole line below is no term
MAX_CHARS = 300  # of a term
MAX_RUNS = 12  # tried for either term


def directive(fragments: Sequence[Fragment]) -> str:
    """What follows "#" in a link that highlights the passages; "" where there are none."""
    texts = (
        ",".join(_encoded(term) for term in (fragment.start, fragment.end) if term)
        for fragment in fragments
    )
    joined = "&".join(f"text={text}" for text in texts)
    return f":~:{joined}" if joined else ""


def join(first: Fragment, last: Fragment) -> Fragment:
    """One fragment from the start of one passage to the end of a later one."""
    return first if first == last else Fragment(start=first.start, end=last.end or last.start)


def _encoded(term: str) -> str:
    """`quote` leaves "-" alone, which would make a term a prefix or a suffix."""
    return quote(term, safe="").replace("-", "%2D")


class Locator:
    """Finds the fragments of one page's passages, which come in page order."""

    def __init__(self, visible: Sequence[str]) -> None:
        self._haystack = Haystack(visible)
        self._section: tuple[str, ...] | None = None
        self._section_at: int | None = None

    def fragment(self, blocks: Sequence[Block], section: tuple[str, ...]) -> Fragment | None:
        """None where no start within the first half of the passage is the first on the page."""
        if section != self._section:
            self._section, self._section_at = section, None
        passed, half = 0, sum(count_ink(block.text) for block in blocks) / 2
        for index, block in enumerate(blocks):
            for place, run in enumerate(self._haystack.runs(block)):
                if self._section_at is None:
                    self._section_at = run.at(0)
                if passed > half or place == MAX_RUNS:
                    return None
                last = self._start(run)
                if last is not None:
                    return self._from(run, last, self._backwards(blocks[index:], place))
                passed += run.ink
        return None

    def _backwards(self, blocks: Sequence[Block], first: int) -> Iterator[Run]:
        """The runs of the blocks from the last to the `first` of the first block."""
        for index in range(len(blocks) - 1, -1, -1):
            yield from reversed(self._haystack.runs(blocks[index])[0 if index else first :])

    def _from(self, run: Run, start_last: int, backwards: Iterator[Run]) -> Fragment:
        """From a start that is known to be right to the last end that can be made right."""
        start, since = run.term(0, start_last), run.to(start_last)
        for other in islice(backwards, MAX_RUNS):
            is_same = other.at(0) == run.at(0)
            if is_same and self._is_short(run):
                return Fragment(start=run.term(0, len(run.units) - 1))
            found = self._end(other, start_last + 1 if is_same else 0, since)
            if found is not None:
                return Fragment(start=start, end=other.term(*found))
        return Fragment(start=start)

    def _is_short(self, run: Run) -> bool:
        """Of what is left of a passage in one line: it needs no end."""
        last = run.units[-1]
        return last.closes and last.end - run.units[0].start <= WHOLE_CHARS

    def _start(self, run: Run) -> int | None:
        """Index of the last unit of the shortest term that is first on the page."""
        text, at, needed = self._haystack.text, run.at(0), 0
        for last, unit in enumerate(run.units):
            to = run.to(last)
            if unit.end - run.units[0].start > MAX_CHARS:
                break
            if not unit.closes or to <= needed or not self._is_enough(run, 0, last):
                continue
            found = self._haystack.first(at, to, 0)
            if found == at:
                return last
            # Every term that this earlier place shares with ours is found there first.
            shared = _shared(text[found : found + MAX_CHARS], text[at : at + MAX_CHARS])
            needed = at + shared
        return None

    def _end(self, run: Run, free: int, since: int) -> tuple[int, int] | None:
        """First and last unit of the shortest term that is first after the start.

        Best is one that is first in the section: it also ends a longer citation that begins with
        an earlier passage of it.
        """
        last = len(run.units) - 1
        if last < free or not run.units[last].closes:
            return None
        for begin in sorted({min(self._section_at or 0, since), since}):
            if (first := self._end_since(run, free, begin)) is not None:
                return first, last
        return None

    def _end_since(self, run: Run, free: int, since: int) -> int | None:
        text, last = self._haystack.text, len(run.units) - 1
        to = needed = run.to(last)
        for first in range(last, free - 1, -1):
            at = run.at(first)
            if run.units[last].end - run.units[first].start > MAX_CHARS:
                break
            if at >= needed or not (self._is_enough(run, first, last) or first == free):
                continue
            found = self._haystack.first(at, to, since)
            if found == at:
                return first
            there = found + to - at
            shared = _shared(
                text[max(0, there - MAX_CHARS) : there][::-1],
                text[max(0, to - MAX_CHARS) : to][::-1],
            )
            needed = to - shared
        return None

    def _is_enough(self, run: Run, first: int, last: int) -> bool:
        """Long enough, or all there is, unless that is next to nothing."""
        size = len(self._haystack.text[run.at(first) : run.to(last)].encode())
        if last - first + 1 == len(run.units):
            return size >= TINY_BYTES
        return size >= LEAST_BYTES or (last - first + 1 >= LEAST_WORDS and 2 * size >= LEAST_BYTES)


def _shared(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    pairs = zip(one, other, strict=False)
    differing = (index for index, (a, b) in enumerate(pairs) if a != b)
    return next(differing, min(len(one), len(other)))
