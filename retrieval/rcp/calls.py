"""One accepted request, from its start to its single reply.

Below: peers, runtime, progress, results. Above: dispatcher makes calls, transports start them.
A handler may be a function, a generator, a coroutine or an async generator; whichever it is, its
`Progress` events go to the outlet and its result settles the call. Cancel, deadline and result
race for the one reply: the first claims it, and frames end there.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator, Sequence
from contextlib import aclosing, closing, suppress
from contextvars import ContextVar
from typing import Any, TypeAlias

from retrieval.rcp.errors import BackendUnavailable, Cancelled, RcpError, error_of, logger
from retrieval.rcp.inflight import Key
from retrieval.rcp.messages import LOG, Reply, RequestId, failure, notification, success
from retrieval.rcp.peers import Caller, Peer
from retrieval.rcp.progress import Progress, ProgressToken
from retrieval.rcp.results import finish
from retrieval.rcp.routes import Route
from retrieval.rcp.runtime import Runtime

Done: TypeAlias = Callable[[Reply | None], None]
_current: ContextVar[Call] = ContextVar("rcp_call")


class Call:
    __slots__ = (
        "_claim", "_done", "_loop", "_peer", "_progress", "_runtime", "_task",
        "deadline", "id", "key", "notes", "params", "route", "settled", "token",
    )  # fmt: skip

    def __init__(
        self,
        id_: RequestId,
        route: Route,
        params: dict[str, Any],
        peer: Peer,
        done: Done,
        runtime: Runtime,
    ) -> None:
        self.id = id_
        self.route = route
        self.params = params
        self.key: Key = (self,)
        self.token: ProgressToken | None = None
        self.notes: Sequence[str] = ()
        self.deadline = time.monotonic() + runtime.limits.deadline_seconds
        self.settled = False
        self._peer = peer
        self._done = done
        self._runtime = runtime
        self._claim = threading.Lock()
        self._progress = 0.0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None

    # For handlers, through `current_call()`.

    @property
    def cancelled(self) -> bool:
        """Whether nobody waits for the result any more: cancelled, or overdue."""
        return self.settled

    def log(self, level: str, message: str, **data: Any) -> None:
        """Send `notifications/log` to a client that asked for it; others see nothing."""
        outlet = self._peer.log_outlet
        if outlet is not None and self._peer.session.wants_log:
            params = {"level": level, "message": message, "logger": self.method}
            text = notification(LOG, {**params, "data": data} if data else params)
            outlet.frame(text, self, wait=True)

    @property
    def method(self) -> str:
        return self.route.method

    @property
    def caller(self) -> Caller:
        return self._peer.caller

    # For transports.

    def start(self) -> None:
        """Run on the pool or, for an async handler, on the running loop; returns at once."""
        if self.route.is_async:
            self._launch(None)
        else:
            self._runtime.pool.submit(self.run)

    def run(self) -> None:
        """Run in this thread. Never raises; an awaitable outcome goes on on the loop."""
        if self.settled:
            return
        context = _current.set(self)
        try:
            outcome = self.route.handler(self.params)
            if type(outcome) is dict:  # the common case, and cheaper to tell than the others
                self._succeed(outcome)
            elif isinstance(outcome, Generator):
                self._succeed(self._drain(outcome))
            elif isinstance(outcome, Awaitable | AsyncGenerator):
                self._launch(outcome)
            else:
                self._succeed(outcome)
        except BaseException as error:
            self._fail(error)
        finally:
            _current.reset(context)

    def abort(self, error: RcpError) -> None:
        """Answer with this error unless answered, and stop the handler as soon as it can be."""
        if self.settled or not self._settle(failure(self.id, error)) or self._loop is None:
            return
        with suppress(RuntimeError):  # the loop is closed, and its tasks with it
            self._loop.call_soon_threadsafe(self._cancel_task)

    # Settling.

    def _settle(self, reply: Reply) -> bool:
        if not self._claim.acquire(blocking=False):
            return False
        self.settled = True
        self._runtime.in_flight.remove(self)
        self._done(reply)
        return True

    def _succeed(self, result: Any) -> None:
        if not self.settled:
            self._settle(
                success(self.id, finish(self.route.method, self.params, result, self.notes))
            )

    def _fail(self, error: BaseException) -> None:
        if self.settled:
            if not isinstance(error, RcpError | asyncio.CancelledError | GeneratorExit):
                logger.info("%s failed after it was answered", self.method, exc_info=error)
        elif isinstance(error, asyncio.CancelledError):
            self._settle(failure(self.id, Cancelled("the request was cancelled")))
        elif isinstance(error, ConnectionError):
            logger.warning("a backend of %s is unreachable", self.method, exc_info=error)
            self._settle(failure(self.id, BackendUnavailable("a backend is unavailable")))
        else:
            self._settle(failure(self.id, error_of(error, where=self.method)))

    # Driving.

    def _drain(self, events: Generator[Any, None, Any]) -> Any:
        with closing(events):
            while True:
                try:
                    event = next(events)
                except StopIteration as stop:
                    return stop.value
                if self.settled:
                    return None
                text = self._frame(event)
                if text is not None and self._peer.outlet is not None:
                    self._peer.outlet.frame(text, self, wait=True)

    def _launch(self, outcome: Awaitable[Any] | AsyncGenerator[Any, None] | None) -> None:
        try:
            self._loop = asyncio.get_running_loop()
        except RuntimeError:
            self._loop = self._runtime.loop.get()
            asyncio.run_coroutine_threadsafe(self._run_async(outcome), self._loop)
        else:
            self._task = self._loop.create_task(self._run_async(outcome))

    async def _run_async(self, outcome: Awaitable[Any] | AsyncGenerator[Any, None] | None) -> None:
        _current.set(self)
        self._task = asyncio.current_task()
        try:
            async with self._runtime.async_slots():
                if not self.settled:
                    if outcome is None:
                        outcome = self.route.handler(self.params)
                    if isinstance(outcome, AsyncGenerator):
                        self._succeed(await self._drain_async(outcome))
                    else:
                        self._succeed(await outcome)
        except BaseException as error:
            self._fail(error)
        finally:
            if isinstance(outcome, Coroutine):
                outcome.close()  # no effect on one that ran

    async def _drain_async(self, events: AsyncGenerator[Any, None]) -> Any:
        """An async generator cannot return: what it yields beside `Progress` is its result."""
        async with aclosing(events):
            async for event in events:
                if self.settled:
                    return None
                if not isinstance(event, Progress):
                    return event
                text = self._frame(event)
                outlet = self._peer.outlet
                if text is None or outlet is None:
                    continue
                if not outlet.frame(text, self, wait=False):
                    await asyncio.to_thread(outlet.frame, text, self, wait=True)
        return None

    def _frame(self, event: Any) -> bytes | None:
        if not isinstance(event, Progress):
            raise TypeError(f"a handler yields rcp.Progress, not {type(event).__name__}")
        if self.token is None or self._peer.outlet is None:
            return None
        self._progress = event.at_least(self._progress)
        return event.to_frame(self.token, at_least=self._progress)

    def _cancel_task(self) -> None:
        if self._task is not None:
            self._task.cancel()


def current_call() -> Call:
    """The call that this handler serves. Raises LookupError outside of one."""
    return _current.get()
