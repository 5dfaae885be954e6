"""The requests that are being worked on: found by id for cancelling, by age for deadlines.

Below: calls (by type alone). Above: dispatcher. Ids are compared with their type, so that 1, 1.0
and true stay three things; over HTTP several callers may use one id at once.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any, TypeAlias

from retrieval.rcp.errors import RateLimited, Timeout
from retrieval.rcp.messages import RequestId

if TYPE_CHECKING:
    from retrieval.rcp.calls import Call

Key: TypeAlias = tuple[Any, ...]


def key_of(scope: str | None, id_: RequestId) -> Key:
    return (scope, type(id_), id_)


class InFlight:
    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._calls: dict[Key, Call] = {}  # oldest first, and one deadline for all

    def __contains__(self, key: Key) -> bool:
        return key in self._calls

    def __len__(self) -> int:
        return len(self._calls)

    def add(self, call: Call) -> None:
        with self._lock:
            if len(self._calls) >= self._limit:
                raise RateLimited("too many requests in flight", retry_after_ms=1_000)
            if call.key in self._calls:
                call.key = (*call.key, id(call))
            self._calls[call.key] = call

    def remove(self, call: Call) -> None:
        with self._lock:
            self._calls.pop(call.key, None)

    def find(self, key: Key) -> Call | None:
        """The one call under this id; None where there is none or no telling which."""
        with self._lock:
            found = [call for held, call in self._calls.items() if held[: len(key)] == key]
        return found[0] if len(found) == 1 else None

    def snapshot(self) -> list[Call]:
        """All of them, oldest first."""
        with self._lock:
            return list(self._calls.values())


class DeadlineKeeper:
    """Ends calls that are overdue. One thread, asleep until the oldest call's deadline.

    A call that arrives while it sleeps has a later deadline than it sleeps to, so that arrivals
    need not wake it.
    """

    def __init__(self, in_flight: InFlight, seconds: float) -> None:
        self._in_flight = in_flight
        self._seconds = seconds
        self._stopped = threading.Event()
        self._started = False
        self._lock = threading.Lock()

    def start(self) -> None:
        if self._started:
            return
        with self._lock:
            if not self._started:
                self._started = True
                threading.Thread(target=self._run, name="rcp-deadlines", daemon=True).start()

    def stop(self) -> None:
        self._stopped.set()

    def _run(self) -> None:
        while not self._stopped.wait(self._pause()):
            now = time.monotonic()
            for call in self._in_flight.snapshot():
                if call.deadline > now:
                    break
                call.abort(Timeout("the request took too long"))

    def _pause(self) -> float:
        oldest = next(iter(self._in_flight.snapshot()), None)
        if oldest is None:
            return self._seconds
        return max(0.0, oldest.deadline - time.monotonic())
