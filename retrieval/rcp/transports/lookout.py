"""Lets the thread that serves requests also run the quick ones, without ever being stuck in one.

Below: calls. Above: transports.stdio (serving is reading), transports.turns (serving is running the
loop). Handing a request to another thread costs more than a quick handler does. So the server's
thread runs it itself, and the lookout hands the serving on to another thread when that takes
longer than a moment. With no traffic the lookout sleeps.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeAlias

from retrieval.rcp.calls import Call

Turn: TypeAlias = threading.Lock  # taken once: by the server that is back, or by the lookout

TICK_SECONDS = 0.001
LONGEST_TICK_SECONDS = 0.008  # while all requests are quick: each look takes time from them
TICKS_TO_SLEEP = 10


class Lookout:
    def __init__(self, hand_over: Callable[[], None]) -> None:
        self._hand_over = hand_over
        self._turn: Turn | None = None
        self._turns = 0
        self._awake = False
        self._wake = threading.Event()
        self._stopped = False
        self._started = False

    def begin(self) -> Turn:
        """Called before the serving thread runs a request itself."""
        turn = threading.Lock()
        self._turn = turn
        self._turns += 1
        if not self._awake:
            self._rouse()
        return turn

    def keeps_on(self, turn: Turn) -> bool:
        """Called afterwards; False: another thread serves by now."""
        if not turn.acquire(blocking=False):
            return False
        self._turn = None
        return True

    def stop(self) -> None:
        self._stopped = True
        self._wake.set()

    def _rouse(self) -> None:
        self._wake.set()
        if not self._started:
            self._started = True
            threading.Thread(target=self._run, name="rcp-lookout", daemon=True).start()

    def _run(self) -> None:
        while not self._stopped:
            self._wake.wait()
            self._wake.clear()
            self._awake = True
            self._watch()
            self._awake = False
            if self._turn is not None:  # begun between the last look and falling asleep
                self._wake.set()

    def _watch(self) -> None:
        quiet, seen, last, tick = 0, -1, None, TICK_SECONDS
        while quiet < TICKS_TO_SLEEP and not self._stopped:
            # A turn that was under way at the last look is looked at again soon.
            time.sleep(tick if last is None else TICK_SECONDS)
            turn = self._turn
            if turn is None or turn is not last:
                tick = min(2 * tick, LONGEST_TICK_SECONDS)
            elif turn.acquire(blocking=False):
                tick = TICK_SECONDS
                self._turn = turn = None
                self._hand_over()
            quiet = quiet + 1 if self._turns == seen and turn is None else 0
            seen, last = self._turns, turn


def run_timed(call: Call) -> None:
    """Run a call in a thread of the pool, and note whether it may be served in passing again."""
    started = time.monotonic()
    call.run()
    call.route.quick = time.monotonic() - started < TICK_SECONDS
