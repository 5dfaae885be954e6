"""The child's end of the pipe: frames out, no faster than the parent reads. Log records too.

Below: wire. Above: child, spider.
"""

from __future__ import annotations

import asyncio
import logging
import os

from retrieval.ingest.base import CrawlEnd, Fetched, Skipped
from retrieval.ingest.crawl import wire

MAX_WAITING_RECORDS = 200
MAX_RECORD_CHARS = 2_000
PARENT_IS_GONE = 3  # exit status


class Output:
    """Writes whole frames in turn. The write blocks a thread, never the loop that fetches."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._turn = asyncio.Lock()
        self._records = 0
        self._tasks: set[asyncio.Task[None]] = set()

    async def send(self, item: Fetched | Skipped | CrawlEnd) -> None:
        await self._write(wire.encode_item(item))

    async def beat(self, seconds: float) -> None:
        """Show for ever that this process lives, unless it waits for the parent to read.

        Standard input carried the job. Now it only tells, by its end, that the parent is gone.
        """
        asyncio.get_running_loop().add_reader(0, os._exit, PARENT_IS_GONE)
        while True:
            if not self._turn.locked():
                await self._write(wire.encode("alive", {}))
            await asyncio.sleep(seconds)

    def record(self, name: str, level: int, message: str) -> None:
        """Send a log record later; too many at once are dropped."""
        if self._records >= MAX_WAITING_RECORDS:
            return
        self._records += 1
        head = {"logger": name, "level": level, "message": message[:MAX_RECORD_CHARS]}
        task = asyncio.ensure_future(self._write_record(wire.encode("log", head)))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def flush(self) -> None:
        await asyncio.gather(*self._tasks)

    async def _write_record(self, frame: bytes) -> None:
        await self._write(frame)
        self._records -= 1

    async def _write(self, frame: bytes) -> None:
        async with self._turn:
            await asyncio.to_thread(self._write_all, frame)

    def _write_all(self, frame: bytes) -> None:
        rest = memoryview(frame)
        try:
            while rest:
                rest = rest[os.write(self._descriptor, rest) :]
        except OSError:
            os._exit(PARENT_IS_GONE)  # nobody is left to crawl for


class RecordHandler(logging.Handler):
    """Hands log records to the parent, which owns the log. Of libraries only warnings and worse."""

    def __init__(self, output: Output, *, level: int) -> None:
        super().__init__(level)
        self._output = output

    def emit(self, record: logging.LogRecord) -> None:
        ours = record.name.startswith("retrieval.")
        if ours or record.levelno >= logging.WARNING:
            message = self.format(record) if record.exc_info else record.getMessage()
            self._output.record(record.name, record.levelno, message)
