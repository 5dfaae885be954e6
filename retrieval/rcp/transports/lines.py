"""Lines of a byte stream, whatever its read sizes. A leaf; used by stdio on both ends."""

from __future__ import annotations

BLANK = b" \t\r\n\xef\xbb\xbf"  # white space and byte order marks


class LineSplitter:
    """Feed chunks, get whole lines (a line end may stay on); None for one that was too long."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._held = bytearray()
        self._skipping = False

    def feed(self, chunk: bytes) -> list[bytes | None]:
        fresh = not self._held and not self._skipping and len(chunk) <= self._limit
        if fresh and chunk.find(b"\n") == len(chunk) - 1:  # just one line: the common case
            return [chunk] if chunk.strip(BLANK) else []
        *ended, rest = chunk.split(b"\n")
        lines: list[bytes | None] = []
        for part in ended:
            if self._held or self._skipping or len(part) > self._limit:
                lines.append(self._complete(part))
            else:
                lines.append(part)
        if rest:
            self._hold(rest)
        return [line for line in lines if line is None or line.strip(BLANK)]

    def end(self) -> list[bytes | None]:
        """The last line where the stream ended without a line end."""
        return self.feed(b"\n") if self._held or self._skipping else []

    def _hold(self, part: bytes) -> None:
        if not self._skipping:
            self._held += part
        if len(self._held) > self._limit:
            self._skipping = True
            self._held.clear()

    def _complete(self, part: bytes) -> bytes | None:
        self._hold(part)
        line = None if self._skipping else bytes(self._held)
        self._skipping = False
        self._held.clear()
        return line
