"""Frames of a text/event-stream, as bytes. Pure: no Django, no I/O.

Above: chats and retrieval.views encode with it, fastrag_site.streaming sends the bytes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from json.encoder import encode_basestring
from typing import Any

KEEP_ALIVE = b": keep-alive\n\n"

_LINE_END = re.compile(r"\r\n|\r|\n")
# Line ends to some parsers, though not to the standard; JSON leaves them bare.
_ESCAPES = {0x85: "\\u0085", 0x2028: "\\u2028", 0x2029: "\\u2029"}


def encode(data: Mapping[str, Any], event: str | None = None) -> bytes:
    """One event: `event: <name>` where named, `data: <compact JSON>`, a blank line.

    Raises ValueError for a NaN or an infinity, and for an event name that holds a line end.
    """
    head = ""
    if event is not None:
        if not event or _LINE_END.search(event) or "\0" in event:
            raise ValueError(f"not an event name: {event!r}")
        head = f"event: {event}\n"
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _to_utf8(f"{head}data: {_escaped(text)}\n\n")


class Template:
    """Frames that differ in one string alone: what `encode` gives, at a fraction of its price."""

    MARK = "\x00mark\x00"  # stands for the string

    def __init__(self, data: Mapping[str, Any], event: str | None = None) -> None:
        frame = encode(data, event).decode()
        self._before, self._after = frame.split(encode_basestring(self.MARK))

    def encode(self, text: str) -> bytes:
        return _to_utf8(f"{self._before}{_escaped(encode_basestring(text))}{self._after}")


def comment(text: str) -> bytes:
    """A comment: parsers skip it, proxies see traffic."""
    lines = _LINE_END.split(text)
    return _to_utf8("".join(f": {line}\n" for line in lines) + "\n")


def _escaped(text: str) -> str:
    return text if text.isascii() else text.translate(_ESCAPES)


def _to_utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        # Surrogate halves: pairs become their character, lone ones the replacement character.
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()
