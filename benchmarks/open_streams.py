"""A client with many open answers in one thread, that times their tokens.

Above: load, soak.
"""

from __future__ import annotations

import json
import random
import selectors
import socket
import time
from collections import Counter
from dataclasses import dataclass, field

DELTA = b"event: delta"
END = b"\r\n0\r\n\r\n"
OPEN_SECONDS = 120.0


@dataclass(slots=True)
class One:
    sock: socket.socket
    tokens: int = 0
    at: float = 0.0  # of the newest token
    left: bytes = b""  # of what came, less than a mark


@dataclass(slots=True)
class OpenStreams:
    port: int
    gap_seconds: float  # after all are open, in which gaps are counted
    errors: list[str] = field(default_factory=list)
    gaps: Counter[int] = field(default_factory=Counter)  # by millisecond
    _all: list[One] = field(default_factory=list)
    _ended: int = 0
    _count_from: float = float("inf")
    _selector: selectors.BaseSelector = field(default_factory=selectors.DefaultSelector)

    def open(self, count: int, seconds: float) -> None:
        """One after the other, reading the others meanwhile."""
        began = time.monotonic()
        for number in range(count):
            self.ask()
            self.read(until=began + seconds * (number + 1) / count)

    def ask(self) -> None:
        body = json.dumps({"content": "How do I deploy behind a proxy?"})
        head = (
            "POST /api/chats HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        sock = socket.create_connection(("127.0.0.1", self.port), timeout=OPEN_SECONDS)
        sock.sendall((head + body).encode())
        sock.setblocking(False)
        self._all.append(one := One(sock))
        self._selector.register(sock, selectors.EVENT_READ, one)

    def read(
        self, *, seconds: float = OPEN_SECONDS, until: float = 0.0, until_all_open: bool = False
    ) -> None:
        """For so long, or until all have a token or all have ended."""
        until = until or time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0 and self._ended < len(self._all):
            if until_all_open and all(one.tokens for one in self._all):
                self._count_from = time.monotonic()
                return
            for key, _ in self._selector.select(min(left, 0.1)):
                self._receive(key.data)

    def open_now(self) -> int:
        return len(self._all) - self._ended

    def leave_one(self, dice: random.Random) -> None:
        """In mid-answer."""
        going = [key.data for key in self._selector.get_map().values() if key.data.tokens]
        if going:
            self._end(dice.choice(going), "")

    def leave(self) -> None:
        for one in self._all:
            one.sock.close()

    def complete(self, tokens: int) -> int:
        return sum(one.tokens == tokens for one in self._all)

    def gap(self, share: float) -> float:
        """The quantile, in seconds."""
        rest = share * self.gaps.total()
        for milliseconds in sorted(self.gaps):
            rest -= self.gaps[milliseconds]
            if rest <= 0:
                return milliseconds / 1e3
        return float("inf")

    def _receive(self, one: One) -> None:
        try:
            part = one.sock.recv(1 << 16)
        except OSError as error:
            self._end(one, f"{type(error).__name__} after {one.tokens} tokens")
            return
        now = time.monotonic()
        data = one.left + part
        ended = data.endswith(END)
        if tokens := data.count(DELTA):
            if one.at and self._count_from < now < self._count_from + self.gap_seconds:
                self.gaps[int((now - one.at) * 1e3)] += 1
                self.gaps[0] += tokens - 1
            one.tokens += tokens
            one.at = now
            data = data[data.rindex(DELTA) + len(DELTA) :]
        one.left = data[-len(DELTA) + 1 :]
        if not part:
            self._end(one, f"cut off after {one.tokens} tokens: {data[:200]!r}")
        elif part.startswith(b"HTTP/1.1 ") and part[9:12] != b"200":
            self._end(one, part[:300].decode(errors="replace"))
        elif ended:
            self._end(one, "")

    def _end(self, one: One, error: str) -> None:
        self._selector.unregister(one.sock)
        one.sock.close()
        self._ended += 1
        if error:
            self.errors.append(error)
