"""What one HTTP request's handlers say, on its way from their threads to one async reader.

Below: calls (by protocol). Above: transports.http. Bounded: a handler waits where its reader is
slow. Belongs to no event loop until it is read.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import AsyncGenerator

from retrieval.rcp.calls import Call
from retrieval.rcp.messages import Reply


class Channel:
    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._frames: deque[bytes] = deque()
        self._reply: Reply | None = None
        self._finished = False
        self._changed = threading.Condition()
        self._waiter: asyncio.Future[None] | None = None

    # For calls, from any thread.

    def frame(self, text: bytes, call: Call, *, wait: bool) -> bool:
        with self._changed:
            while len(self._frames) >= self._limit and not (self._finished or call.settled):
                if not wait:
                    return False
                self._changed.wait()
            if not (self._finished or call.settled):
                self._frames.append(text)
                self._wake()
        return True

    def finish(self, reply: Reply | None) -> None:
        """The last word: no frame is taken any more."""
        with self._changed:
            self._reply = reply
            self._finished = True
            self._changed.notify_all()
            self._wake()

    # For the reader.

    @property
    def finished(self) -> bool:
        return self._finished

    @property
    def reply(self) -> Reply | None:
        """Valid once finished."""
        return self._reply

    def wait(self) -> Reply | None:
        """Block this thread until finished."""
        with self._changed:
            self._changed.wait_for(lambda: self._finished)
            return self._reply

    async def frames(self, *, silence: float | None = None) -> AsyncGenerator[bytes | None, None]:
        """Each frame as it comes, until finished; None after every `silence` seconds of nothing."""
        while True:
            with self._changed:
                frames, finished = list(self._frames), self._finished
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

    def _wake(self) -> None:
        waiter, self._waiter = self._waiter, None
        if waiter is not None:
            try:
                waiter.get_loop().call_soon_threadsafe(_release, waiter)
            except RuntimeError:  # its loop is closed: nobody reads
                self._finished = True


def _release(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_result(None)
