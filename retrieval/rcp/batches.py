"""Collects the replies of one JSON-RPC batch. Below: messages. Above: dispatcher."""

from __future__ import annotations

import threading
from collections.abc import Callable

from retrieval.rcp.messages import Reply, join_batch


class Batch:
    """Calls `done` once, when all members are settled: None if none of them wants an answer."""

    def __init__(self, size: int, done: Callable[[Reply | None], None]) -> None:
        self._missing = size
        self._done = done
        self._replies: list[Reply] = []
        self._lock = threading.Lock()

    def add(self, reply: Reply | None) -> None:
        """Settle one member, with None where nothing is to be said."""
        with self._lock:
            if reply is not None:
                self._replies.append(reply)
            self._missing -= 1
            if self._missing:
                return
        self._done(Reply(None, join_batch(self._replies)) if self._replies else None)
