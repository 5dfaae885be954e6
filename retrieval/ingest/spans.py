"""Where passages stand in the text that they were cut from. Pure; above: documents.

Passages have their white space collapsed and their headings taken out, so they are found by their
ink, in order.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable

Span = tuple[int, int]  # first character, and the one after the last

_INK = re.compile(r"[^\s\x00-\x1f\x7f-\x9f]+")


def spans(text: str, passages: Iterable[str]) -> list[Span | None]:
    """None for a passage that is not in the text word for word."""
    runs = [(run.start(), run.group()) for run in _INK.finditer(text)]
    inked = "".join(run for _, run in runs)
    starts, length = [], 0
    for _, run in runs:
        starts.append(length)  # of each run in `inked`
        length += len(run)

    def place(at: int) -> int:
        index = bisect_right(starts, at) - 1
        return runs[index][0] + at - starts[index]

    found: list[Span | None] = []
    since = 0
    for passage in passages:
        needle = "".join(_INK.findall(passage))
        at = inked.find(needle, since) if needle else -1
        if at < 0:
            found.append(None)
            continue
        since = at + len(needle)
        found.append((place(at), place(since - 1) + 1))
    return found
