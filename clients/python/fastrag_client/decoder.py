"""Bytes of a text/event-stream in, events out. Pure."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, field

from fastrag_client.errors import ConnectionLost

LINE_END = re.compile(r"\r\n|\r|\n")
# Far above any event of ours: what is longer is no stream of events.
MOST_CHARS = 16 * 1024 * 1024


@dataclass(frozen=True)
class ServerSentEvent:
    name: str
    data: str


@dataclass
class EventStreamDecoder:
    """Bytes in, events out, however the bytes are cut. Follows the HTML standard, section 9.2.6.

    Lines end with CR, LF or CRLF and nothing else: `str.splitlines()` would also split at
    U+2028 and others, which may stand inside the data.
    """

    _utf8: codecs.IncrementalDecoder = field(
        default_factory=lambda: codecs.getincrementaldecoder("utf-8-sig")("replace")
    )
    _line: list[str] = field(default_factory=list)  # pieces of the unfinished line
    _after_cr: bool = False
    _name: str = ""
    _data: list[str] = field(default_factory=list)
    _chars: int = 0  # of the unfinished event

    def feed(self, chunk: bytes) -> list[ServerSentEvent]:
        """The events that this chunk completes."""
        events: list[ServerSentEvent] = []
        text = self._utf8.decode(chunk)
        if not text:
            return events
        self._chars += len(text)
        if self._after_cr:
            text = text.removeprefix("\n")  # the second half of a CRLF
        start = 0
        for end in LINE_END.finditer(text):
            self._line.append(text[start : end.start()])
            start = end.end()
            event = self._take("".join(self._line))
            self._line.clear()
            if event is not None:
                events.append(event)
        self._line.append(text[start:])
        if self._chars > MOST_CHARS:
            raise ConnectionLost("An event is too long.")
        self._after_cr = text.endswith("\r")
        return events

    def _take(self, line: str) -> ServerSentEvent | None:
        """One whole line; a blank one completes an event, unless it has no data."""
        if not line:
            event = ServerSentEvent(self._name or "message", "\n".join(self._data))
            complete = bool(self._data)
            self._name = ""
            self._data = []
            self._chars = 0
            return event if complete else None
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "event":
            self._name = value
        elif name == "data":
            self._data.append(value)
        return None  # comments (empty name), id, retry and unknown fields say nothing to us
