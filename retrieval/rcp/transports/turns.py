"""An event loop and, between two turns of it, the quick handlers: one thread at a time for both.

Below: lookout, releasing, runtime. Above: transports.serve. To hand a quick handler to another
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
from typing import Any

from retrieval.rcp.calls import Call
from retrieval.rcp.runtime import Runtime
from retrieval.rcp.transports.lookout import Lookout, run_timed
from retrieval.rcp.transports.releasing import hold, let_go


class LoopTurns:
    def __init__(self, runtime: Runtime, loop: asyncio.AbstractEventLoop) -> None:
        self._runtime = runtime
        self._loop = loop
        self._ready: deque[Call] = deque()  # touched by the thread that runs the loop alone
        self._here: Call | None = None
        self._lookout = Lookout(self._hand_over)
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

    def start(self, call: Call) -> None:
        """Called on the loop: have a call run that does not stream."""
        if call.route.is_async:
            call.start()
        elif call.route.quick and self._runtime.pool.has_room():
            self._ready.append(call)
            if len(self._ready) == 1:
                self._loop.stop()  # which lets the loop finish what it is at
        else:
            self._runtime.pool.submit(partial(run_timed, call))

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
            self._here = self._ready.popleft()
            turn = self._lookout.begin()
            hold(self._loop)
            self._here.run()
            owned = self._lookout.keeps_on(turn)
            let_go(owned=owned)
            if not owned:
                return False
        return True

    def _hand_over(self) -> None:
        if self._here is not None:
            self._here.route.quick = False
        self._runtime.pool.submit(self._take_turns)


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
