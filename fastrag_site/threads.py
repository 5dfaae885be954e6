"""From threads to asyncio: blocking calls and generators, run in bounded pools.

Below: django.db, whose connections never outlive the call that opened them. Above: streaming,
chats.answering, retrieval.views.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial
from queue import SimpleQueue
from typing import Any, Generic, ParamSpec, TypeVar

from django.db import connections

T = TypeVar("T")
R = TypeVar("R")
P = ParamSpec("P")

# Two pools: a generator keeps its thread while its consumer waits for a call.
_CALLS = ThreadPoolExecutor(8, "call")
_GENERATORS = ThreadPoolExecutor(16, "generator")
_CLOSE_SECONDS = 5.0  # that an idle generator may take to close before we go on without it

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Returned(Generic[R]):
    """The last item of `iterate_in_thread`: what the generator returned."""

    value: R


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


async def iterate_in_thread(
    make_generator: Callable[[], Generator[T, None, R]],
) -> AsyncGenerator[T | Returned[R], None]:
    """The items of a blocking generator, then `Returned(value)`.

    One thread makes, runs and closes the generator, one step for each item asked for. Closing this
    one (use `aclosing`) closes the generator: at once where it waits for us, at its next yield
    where it is busy, and then nobody waits for it.
    """
    loop = asyncio.get_running_loop()
    demand: SimpleQueue[asyncio.Future[T | Returned[R]] | None] = SimpleQueue()
    serve = partial(_serve, make_generator, demand, loop)
    thread = loop.run_in_executor(_GENERATORS, partial(copy_context().run, serve))
    busy = False
    try:
        while True:
            answer: asyncio.Future[T | Returned[R]] = loop.create_future()
            busy = True
            demand.put(answer)
            item = await answer
            busy = False
            yield item
            if isinstance(item, Returned):
                return
    finally:
        demand.put(None)
        if busy:
            thread.cancel()  # takes it out of the queue; a running one ends by itself
        else:
            await asyncio.wait((thread,), timeout=_CLOSE_SECONDS)


def _serve(
    make_generator: Callable[[], Generator[T, None, R]],
    demand: SimpleQueue[asyncio.Future[T | Returned[R]] | None],
    loop: asyncio.AbstractEventLoop,
) -> None:
    """In the thread: one step for each future that arrives, until None."""

    def run() -> Generator[T, None, R]:
        return (yield from make_generator())

    def steps() -> None:
        with contextlib.closing(run()) as generator:
            while (answer := demand.get()) is not None:
                try:
                    item = next(generator)
                except StopIteration as stop:
                    return _tell(loop, answer, answer.set_result, Returned(stop.value))
                except BaseException as error:
                    return _tell(loop, answer, answer.set_exception, error)
                _tell(loop, answer, answer.set_result, item)

    try:
        _closing_connections(steps)
    except Exception:
        logger.exception("a generator failed to close")


def _tell(
    loop: asyncio.AbstractEventLoop,
    answer: asyncio.Future[Any],
    settle: Callable[[Any], None],
    outcome: object,
) -> None:
    def settle_unless_cancelled() -> None:
        if not answer.done():
            settle(outcome)

    with contextlib.suppress(RuntimeError):  # the loop has closed
        loop.call_soon_threadsafe(settle_unless_cancelled)


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
