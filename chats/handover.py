"""Items from a task to the reader of an async generator: those that are ready together, together.

Above: writing. While the reader waits, items go into the batch that it is about to be given; when
it does not, `put` waits until it asks again. So nothing piles up while a client does not read, and
no item waits for another that is still to be made.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Generic, TypeVar

T = TypeVar("T")

# A batch is closed at any of these, whether or not its reader has had a turn.
MOST_ITEMS = 128
MOST_WEIGHT = 16_384
MOST_SECONDS = 0.001  # that its first item may wait for a turn of the event loop


class Handover(Generic[T]):
    """For one putting task and one reader."""

    def __init__(self) -> None:
        self._batch: list[T] = []
        self._weight = 0
        self._began = 0.0
        self._open = False  # the reader waits for this batch
        self._closed = False
        self._reader: asyncio.Future[None] | None = None
        self._putter: asyncio.Future[None] | None = None

    async def put(self, item: T, *, weight: int = 1) -> None:
        """`weight` in bytes, roughly. Returns when the reader waits for more."""
        batch = self._batch
        now = time.monotonic()
        if not batch:
            self._began = now
            self._weight = 0
            _wake(self._reader)
        batch.append(item)
        self._weight += weight
        if (
            not self._open
            or len(batch) >= MOST_ITEMS
            or self._weight >= MOST_WEIGHT
            or now - self._began >= MOST_SECONDS
        ):
            self._open = False
            self._putter = asyncio.get_running_loop().create_future()
            await self._putter

    def close(self) -> None:
        """Let the reader end after what was put. Never waits."""
        self._closed = True
        _wake(self._reader)

    async def batches(self) -> AsyncGenerator[list[T], None]:
        while True:
            while not self._batch and not self._closed:
                self._open = True
                _wake(self._putter)
                self._reader = asyncio.get_running_loop().create_future()
                await self._reader
            self._open = False
            if not self._batch:
                _wake(self._putter)
                return
            batch, self._batch = self._batch, []
            yield batch


async def one_by_one(batches: AsyncGenerator[Sequence[T], None]) -> AsyncGenerator[T, None]:
    """The items of batches, for a reader that gains nothing by taking them together."""
    async with aclosing(batches):
        async for batch in batches:
            for item in batch:
                yield item


def _wake(waiter: asyncio.Future[None] | None) -> None:
    if waiter is not None and not waiter.done():
        waiter.set_result(None)
