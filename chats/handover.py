"""Items from a task to the reader of an async generator, hand to hand.

Above: answering. `put` returns when the reader asks for the next item, so nothing piles up while
a client does not read, and what was put is what was sent.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Generic, TypeVar

T = TypeVar("T")


class Handover(Generic[T]):
    def __init__(self) -> None:
        self._queue: asyncio.Queue[T | None] = asyncio.Queue()

    async def put(self, item: T) -> None:
        self._queue.put_nowait(item)
        await self._queue.join()

    def close(self) -> None:
        """Let the reader end after what was put. Never waits."""
        self._queue.put_nowait(None)

    async def items(self) -> AsyncGenerator[T, None]:
        while (item := await self._queue.get()) is not None:
            yield item
            self._queue.task_done()
        self._queue.task_done()
