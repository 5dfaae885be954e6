"""From threads to asyncio: blocking calls and generators, run in bounded pools.

Below: django.db, whose connections never outlive the call that opened them. Above: streaming,
chats.answering, retrieval.views.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections.abc import Callable, Coroutine, Generator
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import Any, ParamSpec, TypeVar, cast

from django.db import connections

T = TypeVar("T")
R = TypeVar("R")
P = ParamSpec("P")

# Two pools: however long the generators take, a call finds a thread.
_CALLS = ThreadPoolExecutor(8, "call")
_GENERATORS = ThreadPoolExecutor(16, "generator")

logger = logging.getLogger(__name__)


async def in_thread(call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a blocking call, such as a database transaction; its connections are closed after it.

    A cancelled caller does not wait for the call, which runs on: see `to_the_end`.
    """
    return await run_in(_CALLS, partial(call, *args, **kwargs))


async def run_in(pool: ThreadPoolExecutor, call: Callable[[], T]) -> T:
    """The same on a pool of the caller's, for calls that may hang."""
    run = partial(copy_context().run, _closing_connections, call)
    return await asyncio.get_running_loop().run_in_executor(pool, run)


async def to_the_end(work: Coroutine[Any, Any, T]) -> T:
    """Await `work` whatever cancels us meanwhile; the cancellation is raised afterwards."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait((task,))
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None and not task.cancelled():
        if (failure := task.exception()) is not None:
            logger.error("failed while being cancelled", exc_info=failure)
        raise cancelled
    return task.result()


async def drained(make_steps: Callable[[], Generator[Any, None, R]]) -> R:
    """Run a blocking generator to its end in a thread of its own pool; what it returns.

    A cancelled caller does not wait: the generator is closed at its next step.
    """
    abandoned = threading.Event()

    def run() -> R | None:
        with contextlib.closing(make_steps()) as steps:
            while not abandoned.is_set():
                try:
                    next(steps)
                except StopIteration as stop:
                    result: R = stop.value
                    return result
        return None  # nobody is told

    try:
        return cast(R, await run_in(_GENERATORS, run))
    finally:
        abandoned.set()


def release_connections() -> None:
    """Hold no database connection in this thread while it waits; in a transaction, keep it."""
    for connection in connections.all(initialized_only=True):
        if not connection.in_atomic_block:
            connection.close()


def _closing_connections(call: Callable[[], T]) -> T:
    try:
        return call()
    finally:
        connections.close_all()
