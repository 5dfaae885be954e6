"""Time limits on what an answer waits for.

Above: writing.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any

from chats.generation.errors import GenerationTimeout

LETTING_GO_SECONDS = 0.8  # that a model may take to end when nobody listens any more

logger = logging.getLogger(__name__)


@contextlib.asynccontextmanager
async def bound(seconds: float, message: str) -> AsyncIterator[None]:
    """Raises GenerationTimeout when the body takes longer; its own TimeoutErrors pass."""
    try:
        async with asyncio.timeout(seconds) as timer:
            yield
    except TimeoutError as error:
        if timer.expired():
            raise GenerationTimeout(message) from error
        raise


class Patience:
    """The same for many waits, each of which may take so long: `with patience: await …`.

    One timer watches all of them and is set anew only when it fires, so a short wait costs next to
    nothing.
    """

    def __init__(self, seconds: float, message: str) -> None:
        self._seconds, self._message = seconds, message
        self._due: float | None = None  # when the wait that goes on is too long
        self._timeout = asyncio.timeout(None)
        self._timer: asyncio.TimerHandle | None = None

    def become(self, seconds: float, message: str) -> None:
        """Between two waits: from here on."""
        self._seconds, self._message = seconds, message
        self._watch(time.monotonic() + seconds)

    def __enter__(self) -> None:
        self._due = time.monotonic() + self._seconds

    def __exit__(self, *_: object) -> None:
        self._due = None

    async def __aenter__(self) -> Patience:
        await self._timeout.__aenter__()
        self._watch(time.monotonic() + self._seconds)
        return self

    async def __aexit__(self, *raised: Any) -> None:
        if self._timer is not None:
            self._timer.cancel()
        try:
            await self._timeout.__aexit__(*raised)
        except TimeoutError as error:
            raise GenerationTimeout(self._message) from error

    def _watch(self, until: float) -> None:
        loop = asyncio.get_running_loop()
        if self._timer is not None:
            self._timer.cancel()
        self._timer = loop.call_later(max(0.0, until - time.monotonic()), self._look)

    def _look(self) -> None:
        now = time.monotonic()
        due = now + self._seconds if self._due is None else self._due
        if due > now:
            self._watch(due)
        else:
            self._timeout.reschedule(0)


@contextlib.asynccontextmanager
async def closing(stream: AsyncGenerator[Any, None]) -> AsyncIterator[None]:
    """Close a model's stream at the end, without waiting for one that does not let go."""
    try:
        yield
    finally:
        try:
            async with asyncio.timeout(LETTING_GO_SECONDS):
                await stream.aclose()
        except Exception:
            logger.warning("a model's stream did not close", exc_info=True)
