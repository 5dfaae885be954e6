"""A text that is too long for one passage → pieces, cut where a reader would pause.

Pure; below: words. Above: chunk. Blank lines come first, then lines, sentences, clauses, words;
only what has none of them is cut between characters, and never before a mark or after a vowel
that Thai and Lao write ahead of its consonant.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

from retrieval.ingest.words import CHARS_PER_WORD, count_words

Span = tuple[int, int]

# After each match a piece may end, the coarsest first.
_PAUSES = (
    re.compile(r"\n\s*\n"),
    re.compile(r"\n"),
    re.compile(r"[.!?…]+[\"'”’»)\]]*\s+(?=[^\sa-z])|[。！？｡]+[」』”’）]*"),
    re.compile(r"[,;:)]\s+|[、，；：）」』]"),
    re.compile(r"\s+"),
)
_LEADING_VOWELS = frozenset("เแโใไເແໂໃໄ")


def split(text: str, *, target: int, maximum: int) -> list[Span]:
    """Spans without white space at their edges, of about `target` words, none above `maximum`."""
    atoms = list(_atoms(text, (0, len(text)), 0, maximum))
    sizes = [count_words(text[start:end]) for start, end in atoms]
    spans = ((atoms[i][0], atoms[j - 1][1]) for i, j in pack(sizes, target=target, maximum=maximum))
    trimmed = (_trimmed(text, span) for span in spans)
    return [span for span in trimmed if span[0] < span[1]]


def pack(sizes: Sequence[int], *, target: int, maximum: int) -> Iterator[Span]:
    """Runs of neighbours (first, after last) of about equal size, near the target.

    A single size may be above the maximum: it is a run of its own.
    """
    total = sum(sizes)
    if not sizes:
        return
    aim = total / max(1, -(-total // target)) if total > maximum else maximum
    start = size = 0
    for index, one in enumerate(sizes):
        # Closer to the aim without this one than with it.
        if index > start and (size + one > maximum or size + one / 2 > aim):
            yield start, index
            start, size = index, 0
        size += one
    yield start, len(sizes)


def _atoms(text: str, span: Span, level: int, maximum: int) -> Iterator[Span]:
    """The coarsest parts that are each short enough."""
    start, end = span
    if end - start <= maximum * CHARS_PER_WORD and count_words(text[start:end]) <= maximum:
        yield span
    elif level == len(_PAUSES):
        yield from _cut(text, span, maximum)
    else:
        edges = [match.end() for match in _PAUSES[level].finditer(text, start, end)]
        for edge in [*edges, end]:
            if edge > start:
                yield from _atoms(text, (start, edge), level + 1, maximum)
            start = edge


def _cut(text: str, span: Span, chars: int) -> Iterator[Span]:
    start, end = span
    while start < end:
        edge = min(end, start + chars)
        while start + 1 < edge < end and not _is_safe(text, edge):
            edge -= 1
        yield start, edge
        start = edge


def _is_safe(text: str, index: int) -> bool:
    return text[index - 1] not in _LEADING_VOWELS and unicodedata.category(text[index])[0] != "M"


def _trimmed(text: str, span: Span) -> Span:
    part = text[span[0] : span[1]]
    start = span[0] + len(part) - len(part.lstrip())
    return start, max(start, span[0] + len(part.rstrip()))
