"""A chat's first title, made from its first question. Pure."""

from __future__ import annotations

import unicodedata

MAX_CHARS = 80
ELLIPSIS = "…"
_DANGLING = tuple(" ,;:-–—、,。")


def title_from(question: str, *, limit: int = MAX_CHARS) -> str:
    """The question on one line, cut at a word boundary where it is longer than `limit`."""
    line = " ".join("".join(c if c.isprintable() else " " for c in question).split())
    if not line:
        return ELLIPSIS
    if len(line) <= limit:
        return line
    head = line[: limit - len(ELLIPSIS)]
    if not line[len(head)].isspace():
        words, space, _ = head.rpartition(" ")
        # Languages without spaces, and very long words, are cut where they are.
        head = words if space and len(words) >= limit // 2 else _whole_characters(line, len(head))
    while head.endswith(_DANGLING):
        head = head[:-1]
    return head + ELLIPSIS


def _whole_characters(line: str, end: int) -> str:
    """`line[:end]`, shortened so that no accent is cut off its letter."""
    while end > 1 and (unicodedata.combining(line[end]) or line[end] in "\u200d\ufe0f"):
        end -= 1
    return line[:end]
