"""Time limits on what an answer waits for.

Above: writing.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
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
