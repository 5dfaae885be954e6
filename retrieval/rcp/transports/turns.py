"""An event loop and, between two turns of it, the quick handlers: one thread at a time for both.

Below: linger, lookout, runtime. Above: transports.serve. To hand a quick handler to another
thread and its result back costs more than the rest of a request. So the loop stops, its thread runs
the handler, and the loop goes on. Where that takes longer than a moment, the lookout has another
thread take the loop over, which nothing stops: any thread may run on a loop that stands still.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Coroutine
from contextlib import suppress
from functools import partial
from typing import Any, TypeAlias

from retrieval.rcp.calls import Call
from retrieval.rcp.runtime import Runtime
from retrieval.rcp.transports.linger import Linger
from retrieval.rcp.transports.lookout import Lookout, run_timed

Turn: TypeAlias = "asyncio.Future[None]"


class LoopTurns:
    def __init__(self, runtime: Runtime, loop: asyncio.AbstractEventLoop) -> None:
        self._runtime = runtime
        self._loop = loop
        # Both are touched by the thread that has the loop alone.
        self._ready: deque[tuple[Call, Turn]] = deque()
        self._here: tuple[Call, Turn] | None = None
        self._lookout = Lookout(self._hand_over)
        self._linger = Linger()
        self._lingers = False
        self._ended = threading.Event()

    def run(self, main: Coroutine[Any, Any, None]) -> None:
        """Run `main` to its end, in threads of the pool; raises what it raises."""
        self._main = self._loop.create_task(main)
        self._main.add_done_callback(lambda _: self._loop.stop())
        self._runtime.pool.grow()  # a thread for the loop
        self._runtime.pool.submit(self._take_turns)
        try:
            self._ended.wait()
        finally:
            self._lookout.stop()
        self._main.result()

    def start(self, call: Call) -> Turn | None:
        """Called on the loop: have a call run that does not stream.

        Returns its turn, to be awaited: when that is over, a quick call has been answered.
        """
        self._linger.asked()
        if call.route.is_async:
            call.start()
        elif self._may_run_here(call):
            turn = self._loop.create_future()
            self._ready.append((call, turn))
            if len(self._ready) == 1:
                self._loop.stop()  # which lets the loop finish what it is at
            return turn
        else:
            self._submit(call)
        return None

    def answered(self) -> None:
        """Called on the loop: a call that was started here has got its answer out."""
        self._linger.answered()
        if not self._lingers and not self._runtime.in_flight:
            self._stay_awake()

    def _stay_awake(self) -> None:
        """A loop with something to do does not sleep."""
        self._lingers = self._linger.goes_on()
        if self._lingers:
            self._loop.call_soon(self._stay_awake)

    def _take_turns(self) -> None:
        while not self._main.done():
            if not self._run_ready():
                return
            with suppress(SystemExit, KeyboardInterrupt):  # then it is the outcome of `main`
                self._loop.run_forever()
        try:
            _wind_up(self._loop)
        finally:
            self._ended.set()

    def _run_ready(self) -> bool:
        """Whether this thread still has the loop afterwards."""
        while self._ready:
            call, turn = self._here = self._ready.popleft()
            if not self._may_run_here(call):  # any more, since those before it took long
                self._submit(call)
                _end(turn)
                continue
            watched = self._lookout.begin()
            call.run()
            if not self._lookout.keeps_on(watched):
                return False
            _end(turn)
        return True

    def _may_run_here(self, call: Call) -> bool:
        """Whether it is quick, as far as is known, and a thread is free to take the loop over."""
        return call.route.quick and self._runtime.pool.has_room()

    def _submit(self, call: Call) -> None:
        self._runtime.pool.submit(partial(run_timed, call))

    def _hand_over(self) -> None:
        """Called by the lookout: no thread has the loop until another takes it over."""
        if self._here is not None:
            call, turn = self._here
            call.route.quick = False
            _end(turn)  # whoever waits looks on for the answer
        self._runtime.pool.submit(self._take_turns)


def _end(turn: Turn) -> None:
    if not turn.done():
        turn.set_result(None)


def _wind_up(loop: asyncio.AbstractEventLoop) -> None:
    """What `asyncio.run` does at its end."""
    loop.call_soon(loop.stop)
    loop.run_forever()  # so that no stop is left over from before
    tasks = asyncio.all_tasks(loop)
    for task in tasks:
        task.cancel()
    if tasks:
        loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.run_until_complete(loop.shutdown_default_executor())
    loop.close()
