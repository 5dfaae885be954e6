"""Tames markup on which parsing would cost the square of its size. Pure; above: html.parsing.

An HTML parser walks the open elements at many tags and compares each attribute of a tag with the
others, so a megabyte of `<div>` or one tag of a million attributes would take it minutes.
"""

from __future__ import annotations

import re

from retrieval.ingest.html.tags import named

MAX_DEPTH = 500  # open elements; browsers stop near 512
FEW_TAGS = 20_000  # a page with fewer cannot nest deep enough to matter
MAX_ATTRIBUTES = 300  # a tag
LONG_TAG = 4_000  # characters: a shorter one cannot hold enough attributes to matter

_TAG = re.compile(r"<(/?)([a-zA-Z][^\s/<>]*)[^<>]*>")
_LONG_TAG = re.compile(rf"<([a-zA-Z][^\s/<>]*)[^<>]{{{LONG_TAG},}}>?")
# Closed by their successor or never open: these do not nest by themselves.
_FLAT = named(
    "area base br col embed hr img input link meta source track wbr "
    "li p dt dd td th tr tbody thead tfoot option colgroup"
)


def tame(markup: str) -> str:
    """The same text with excessive attributes and nesting left out."""
    if len(max(markup.split("<"), key=len)) > LONG_TAG:
        markup = _LONG_TAG.sub(_without_excess, markup)
    return _flattened(markup) if markup.count("<") > FEW_TAGS else markup


def _without_excess(match: re.Match[str]) -> str:
    return match[0] if len(match[0].split()) <= MAX_ATTRIBUTES else f"<{match[1]}>"


def _flattened(markup: str) -> str:
    """Without the tags beyond MAX_DEPTH; what they enclose stays."""
    depth = dropped = 0

    def keep(match: re.Match[str]) -> str:
        nonlocal depth, dropped
        if match[2].lower() in _FLAT:
            return match[0]
        if match[1]:
            if dropped:
                dropped -= 1
                return ""
            depth = max(0, depth - 1)
        elif depth >= MAX_DEPTH:
            dropped += 1
            return ""
        else:
            depth += 1
        return match[0]

    return _TAG.sub(keep, markup)
