"""Server-Sent Events as RCP uses them: `data` alone, one line of JSON a frame. A leaf."""

from __future__ import annotations

KEEP_ALIVE = b": keep-alive\n\n"


def encode(text: bytes) -> bytes:
    """One frame; the JSON is compact and so has no line end."""
    return b"data: %b\n\n" % text


class EventDecoder:
    """Feed chunks however they were split, get the data of each event; comments are dropped.

    Lines end with LF, CRLF or CR and nothing else; an event that the stream cuts off is dropped.
    """

    def __init__(self, limit: int = 64_000_000) -> None:
        self._limit = limit
        self._held = bytearray()
        self._data: list[bytes] = []

    def feed(self, chunk: bytes) -> list[bytes]:
        self._held += chunk
        if len(self._held) > self._limit:
            raise ValueError("an event is too long")
        if b"\n" not in chunk and b"\r" not in chunk:
            return []
        text = bytes(self._held)
        tail = b""
        if text.endswith(b"\r"):  # half of a CRLF, perhaps
            text, tail = text[:-1], b"\r"
        *lines, rest = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        self._held = bytearray(rest + tail)
        return [event for line in lines if (event := self._take(line)) is not None]

    def _take(self, line: bytes) -> bytes | None:
        if not line:
            data, self._data = self._data, []
            return b"\n".join(data) if data else None
        name, _, value = line.partition(b":")
        if name == b"data":
            self._data.append(value.removeprefix(b" "))
        return None
