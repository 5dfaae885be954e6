"""EventStreamResponse: sends frames as they come, and closes what makes them.

Below: conf, metrics, sse, shutdown, threads. Above: views of chats and retrieval.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import aclosing
from typing import Any

from asgiref.sync import async_to_sync
from django.http import StreamingHttpResponse

from fastrag_site import metrics, shutdown, sse
from fastrag_site.conf import conf
from fastrag_site.steps import Steps

HEADERS = {
    "Cache-Control": "no-cache, no-transform",
    "X-Accel-Buffering": "no",
    "Content-Encoding": "identity",  # compression middleware would hold frames back
}

logger = logging.getLogger(__name__)
_abandoning: set[asyncio.Task[None]] = set()


class EventStreamResponse(StreamingHttpResponse):
    """200 text/event-stream of encoded frames.

    `source` runs from start to close in one task of its own, one step for each frame that the
    client took. Whatever happens (the end, an error, a client that leaves or never reads, a
    shutdown) it is started once and closed once, before the request ends. Inside it a close shows
    as CancelledError at an await, or GeneratorExit at a yield. After `keepalive` silent seconds
    (default: conf) a comment is sent.
    """

    _iterator: Any

    def __init__(
        self, source: AsyncGenerator[bytes, None], *, keepalive: float | None = None
    ) -> None:
        self._source = source
        self._started = False
        self._keepalive = conf().keepalive_seconds if keepalive is None else keepalive
        self._relayed = self._relay()
        super().__init__(
            self._relayed, content_type="text/event-stream; charset=utf-8", headers=HEADERS
        )

    async def __aiter__(self) -> AsyncGenerator[bytes, None]:
        # Middleware may have wrapped the relay, and closing a wrapper leaves the rest to the
        # garbage collector: close both.
        outermost = self._iterator
        async with aclosing(self._relayed), aclosing(outermost):
            async for part in outermost:
                yield self.make_bytes(part)

    def __iter__(self) -> Iterator[bytes]:
        """For WSGI servers and the synchronous test client: live as well, on a private loop."""
        with asyncio.Runner() as runner:
            frames = aiter(self)
            try:
                while (part := runner.run(_next(frames))) is not None:
                    yield part
            finally:
                runner.run(frames.aclose())

    def getvalue(self) -> bytes:
        return b"".join(self)

    async def abandon(self) -> None:
        """Start and close a source that nobody will read."""
        if not self._started:
            self._started = True
            await _start_and_close(self._source)

    def close(self) -> None:
        if not self._started:
            try:
                loop = asyncio.get_running_loop()
            except RuntimeError:
                async_to_sync(self.abandon)()
            else:
                _abandoning.add(task := loop.create_task(self.abandon()))
                task.add_done_callback(_abandoning.discard)
        super().close()

    async def _relay(self) -> AsyncGenerator[bytes, None]:
        """The frames of the source, with keep-alive comments in its silences."""
        self._started = True
        loop = asyncio.get_running_loop()
        steps = Steps(self._source, silence=self._keepalive)
        runner = asyncio.create_task(steps.run())
        runner.add_done_callback(steps.end)
        try:
            with (
                metrics.open_stream(),
                shutdown.told(lambda: loop.call_later(shutdown.grace(), runner.cancel)),
            ):
                while (frame := await steps.next()) is not None:
                    yield frame or sse.KEEP_ALIVE
        finally:
            steps.close()
            runner.cancel()
            await asyncio.wait((runner,))
            await _start_and_close(self._source)  # where the runner was cancelled before it began
            if not runner.cancelled() and (error := runner.exception()) is not None:
                logger.error("a stream failed to close", exc_info=error)


async def _start_and_close(source: AsyncGenerator[bytes, None]) -> None:
    """Run an unstarted source up to its first yield and close it there; no effect on others."""
    async with aclosing(source):
        await anext(source, None)


async def _next(frames: AsyncIterator[bytes]) -> bytes | None:
    return await anext(frames, None)
