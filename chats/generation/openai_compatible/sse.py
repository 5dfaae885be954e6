"""Bytes of an event stream, in any split → events, within bounds.

Above: reading. Knows the stream's framing and nothing of what is in it. Servers differ: comments,
empty `data:` lines, no space after the colon, a lone JSON document instead of a stream.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from chats.generation.errors import ModelError

EVENT_MAX_BYTES = 2_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    name: str  # "" where the stream gives none
    data: str  # never empty


class EventDecoder:
    """Lines end at CR, LF or CRLF and nowhere else. Raises ModelError."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._name = ""
        self._data: list[str] = []
        self._size = 0
        self._after_cr = False
        self._begun = False
        self._is_document = False

    def feed(self, part: bytes) -> Iterator[Event]:
        if part and self._after_cr:
            part = part.removeprefix(b"\n")
            self._after_cr = False
        if not part:
            return
        self._after_cr = part.endswith(b"\r")
        self._buffer += part
        self._check_size()
        if self._looks_like_document() or not (b"\n" in part or b"\r" in part):
            return
        lines = self._buffer.splitlines(keepends=True)
        self._buffer = bytearray() if lines[-1].endswith((b"\r", b"\n")) else lines.pop()
        for line in lines:
            yield from self._take(_text(line.rstrip(b"\r\n")))

    def end(self) -> Iterator[Event]:
        """What the server left unfinished: a last event without its blank line."""
        rest = _text(self._buffer.strip())
        if self._is_document:
            yield Event(name="", data=rest)
            return
        if rest:
            yield from self._take(rest)
        yield from self._take("")

    def _take(self, line: str) -> Iterator[Event]:
        if not line:
            data = "\n".join(self._data).strip()
            if data:
                yield Event(name=self._name, data=data)
            self._name, self._data, self._size = "", [], 0
            return
        field, _, value = line.partition(":")
        if field == "data":
            self._data.append(value.removeprefix(" "))
            self._size += len(value)
            self._check_size()
        elif field == "event":
            self._name = value.strip()

    def _looks_like_document(self) -> bool:
        """Whether the body is one JSON document: a server that does not stream, or an error."""
        if not self._begun and (start := self._buffer.removeprefix(b"\xef\xbb\xbf").lstrip()):
            self._begun = True
            self._is_document = start.startswith(b"{")
            self._buffer = start
        return self._is_document

    def _check_size(self) -> None:
        if self._size + len(self._buffer) > EVENT_MAX_BYTES:
            raise ModelError


def _text(line: bytes | bytearray) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError:
        raise ModelError from None
