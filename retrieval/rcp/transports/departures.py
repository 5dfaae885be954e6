"""Tells when the client of a request leaves before it is answered.

Below: transports.http (its Exchange). Above: transports.asgi. A task a request would cost more
than most requests do, so one timer looks after all of them, and only those that take a while get
a task that waits for the client to leave.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from functools import partial
from typing import Any, TypeAlias

from retrieval.rcp.transports.http import Exchange

Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]

TICK_SECONDS = 0.02


class DepartureWatch:
    def __init__(self) -> None:
        self._young: dict[Exchange, Receive] = {}
        self._watched: dict[Exchange, asyncio.Future[Any]] = {}
        self._ticking = False

    def add(self, exchange: Exchange, receive: Receive) -> None:
        """The body is read: what `receive` brings next can only be the departure."""
        self._young[exchange] = receive
        if not self._ticking:
            self._ticking = True
            asyncio.get_running_loop().call_later(TICK_SECONDS, self._tick)

    def remove(self, exchange: Exchange) -> None:
        if self._young.pop(exchange, None) is None and exchange in self._watched:
            self._watched.pop(exchange).cancel()

    def _tick(self) -> None:
        """Watch everything that is still under way; among it some that has only just come."""
        young, self._young = self._young, {}
        for exchange, receive in young.items():
            task = asyncio.ensure_future(receive())
            task.add_done_callback(partial(_gone, exchange))
            self._watched[exchange] = task
        self._ticking = False


def _gone(exchange: Exchange, _: asyncio.Future[Any]) -> None:
    exchange.abort()  # no effect where the answer came first and the watch was called off
