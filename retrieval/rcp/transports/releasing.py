"""Releases what is awaited on an event loop, from any thread, as cheaply as the thread allows.

Below: nothing. Above: channel, which wakes its reader; turns, whose thread owns its loop even while
the loop stands still. Waking a loop from outside costs two system calls and a turn of it.
"""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress
from typing import TypeAlias

Waiter: TypeAlias = "asyncio.Future[None]"


class _Held(threading.local):
    """Of each thread: the loop that it will run on, and what to release there first."""

    loop: asyncio.AbstractEventLoop | None = None
    waiters: list[Waiter]


_held = _Held()


def release(waiter: Waiter) -> None:
    """Set the result of a future that may be done, or whose loop may be closed."""
    loop = waiter.get_loop()
    if _held.loop is loop:
        _held.waiters.append(waiter)
    elif _runs_here(loop):
        _set(waiter)
    else:
        with suppress(RuntimeError):  # the loop is closed: nobody waits
            loop.call_soon_threadsafe(_set, waiter)


def hold(loop: asyncio.AbstractEventLoop) -> None:
    """Until `let_go`, what this thread releases on `loop`, which it owns, waits."""
    _held.loop, _held.waiters = loop, []


def let_go(*, owned: bool) -> None:
    """Release what was held; `owned`: the loop is still this thread's to run on."""
    waiters, _held.loop = _held.waiters, None
    for waiter in waiters:
        (_set if owned else release)(waiter)


def _runs_here(loop: asyncio.AbstractEventLoop) -> bool:
    try:
        return asyncio.get_running_loop() is loop
    except RuntimeError:
        return False


def _set(waiter: Waiter) -> None:
    if not waiter.done():
        waiter.set_result(None)
