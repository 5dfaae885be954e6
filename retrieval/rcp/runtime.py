"""What the calls of a server run on: threads, an event loop, the table of calls and its deadlines.

Below: inflight, workers. Above: calls, dispatcher, transports.
"""

from __future__ import annotations

import asyncio
from weakref import WeakKeyDictionary

from retrieval.rcp.errors import Cancelled
from retrieval.rcp.inflight import DeadlineKeeper, InFlight
from retrieval.rcp.limits import Limits
from retrieval.rcp.workers import LoopThread, WorkerPool


class Runtime:
    """One per server, shared by its transports."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.in_flight = InFlight(limits.concurrency + limits.backlog)
        self.deadlines = DeadlineKeeper(self.in_flight, limits.deadline_seconds)
        self.pool = WorkerPool(limits.concurrency)
        self.loop = LoopThread()  # for async handlers of transports that have no loop
        self._slots: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore]
        self._slots = WeakKeyDictionary()

    def async_slots(self) -> asyncio.Semaphore:
        """The running loop's share of concurrency."""
        loop = asyncio.get_running_loop()
        if loop not in self._slots:
            self._slots[loop] = asyncio.Semaphore(self.limits.concurrency)
        return self._slots[loop]

    def start(self) -> None:
        """Begin to watch deadlines; idempotent."""
        self.deadlines.start()

    def abort_all(self, reason: str) -> None:
        for call in self.in_flight.snapshot():
            call.abort(Cancelled(reason))

    def close(self) -> None:
        self.abort_all("the server is shutting down")
        self.deadlines.stop()
        self.pool.close()
        self.loop.close()
