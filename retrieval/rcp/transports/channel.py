"""What one HTTP request's handlers say, on its way from their threads to one reader.

Below: calls (by protocol). Above: transports.http. `Answer` carries the reply alone;
`Channel` the frames before it as well, bounded: a handler waits where its reader is slow. Neither
belongs to an event loop until it is awaited.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import suppress

from retrieval.rcp.calls import Call
from retrieval.rcp.messages import Reply


class Answer:
    """One reply, given in any thread, waited for in a thread or on a loop."""

    def __init__(self) -> None:
        self.finished = False
        self.reply: Reply | None = None  # valid once finished; None: nothing is to be said
        self._waiter: asyncio.Future[None] | None = None
        self._event: threading.Event | None = None

    def finish(self, reply: Reply | None) -> None:
        self.reply = reply
        self.finished = True  # before looking for who waits: a waiter looks the other way round
        self._wake()
        if self._event is not None:
            self._event.set()

    def wait(self) -> Reply | None:
        self._event = threading.Event()
        if not self.finished:
            self._event.wait()
        return self.reply

    async def wait_async(self) -> Reply | None:
        waiter = self._waiter = asyncio.get_running_loop().create_future()
        if not self.finished:
            await waiter
        return self.reply

    def _wake(self) -> None:
        waiter, self._waiter = self._waiter, None
        if waiter is not None:
            _release(waiter)


class Channel(Answer):
    def __init__(self, limit: int) -> None:
        super().__init__()
        self._limit = limit
        self._frames: deque[bytes] = deque()
        self._changed = threading.Condition()

    def frame(self, text: bytes, call: Call, *, wait: bool) -> bool:
        """Take one frame, unless the call or all is settled; see calls.Outlet."""
        with self._changed:
            while len(self._frames) >= self._limit and not (self.finished or call.settled):
                if not wait:
                    return False
                self._changed.wait()
            if not (self.finished or call.settled):
                self._frames.append(text)
                self._wake()
        return True

    def finish(self, reply: Reply | None) -> None:
        with self._changed:
            super().finish(reply)
            self._changed.notify_all()

    async def frames(self, *, silence: float) -> AsyncGenerator[bytes | None, None]:
        """Each frame as it comes, until finished; None after every `silence` seconds of nothing."""
        while True:
            with self._changed:
                frames, finished = list(self._frames), self.finished
                self._frames.clear()
                self._changed.notify_all()
                if not frames and not finished:
                    waiter = self._waiter = asyncio.get_running_loop().create_future()
            for text in frames:
                yield text
            if finished:
                return
            if not frames:
                while not (await asyncio.wait({waiter}, timeout=silence))[0]:
                    yield None


def _release(waiter: asyncio.Future[None]) -> None:
    """Let go on whoever waits, from any thread."""
    loop = waiter.get_loop()
    if _runs_here(loop):  # waking a loop from outside costs two system calls and a turn of it
        _set(waiter)
    else:
        with suppress(RuntimeError):  # the loop is closed: nobody waits
            loop.call_soon_threadsafe(_set, waiter)


def _runs_here(loop: asyncio.AbstractEventLoop) -> bool:
    try:
        return asyncio.get_running_loop() is loop
    except RuntimeError:
        return False


def _set(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_result(None)
