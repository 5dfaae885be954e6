"""A source of frames, run in a task of its own, one step for each frame that is asked for.

Above: streaming. On the way of every token, so each step costs two futures and no timer: one timer
watches for silence and is set anew only when it fires.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

SILENCE = b""


class Steps:
    """For one reader, which calls `next`, and one task, which is `run`."""

    def __init__(self, source: AsyncGenerator[bytes, None], *, silence: float) -> None:
        self._source = source
        self._silence = silence
        self._loop = asyncio.get_running_loop()
        self._asked = False  # for a frame that has not been handed out
        self._demand: asyncio.Future[None] | None = None
        self._answer: asyncio.Future[None] | None = None
        self._waiting_since = 0.0
        self._frame: bytes | None = None
        self._error: Exception | None = None
        self._ended = False
        self._timer = self._loop.call_later(silence, self._look)

    async def run(self) -> None:
        """Hold the source from its start to its close."""
        async with aclosing(self._source):
            while True:
                if not self._asked:
                    self._demand = self._loop.create_future()
                    await self._demand
                try:
                    self._frame = await anext(self._source, None)
                except Exception as error:
                    self._error = error
                if self._frame is None:
                    return
                self._asked = False
                _wake(self._answer)

    async def next(self) -> bytes | None:
        """The next frame, SILENCE where there was none for so long, None at the end."""
        if self._frame is None and not self._ended:
            if not self._asked:
                self._asked = True
                _wake(self._demand)
            self._waiting_since = self._loop.time()
            self._answer = self._loop.create_future()
            await self._answer
            self._answer = None
        frame, self._frame = self._frame, None
        if frame is None and self._error is not None:
            raise self._error
        return SILENCE if frame is None and not self._ended else frame

    def end(self, _: object = None) -> None:
        """No more will come."""
        self._ended = True
        _wake(self._answer)

    def close(self) -> None:
        self._timer.cancel()

    def _look(self) -> None:
        now, waits = self._loop.time(), self._answer is not None
        due = (self._waiting_since if waits else now) + self._silence
        if due <= now:
            _wake(self._answer)
            due = now + self._silence
        self._timer = self._loop.call_at(due, self._look)


def _wake(waiter: asyncio.Future[None] | None) -> None:
    if waiter is not None and not waiter.done():
        waiter.set_result(None)
