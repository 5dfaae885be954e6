"""Where handlers run: a bounded pool of daemon threads, and one event loop for async handlers.

Below: nothing. Above: calls, transports. Daemon threads, unlike an executor's, let the process
end while a handler that nobody waits for any longer is stuck.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import TypeAlias

logger = logging.getLogger("rcp")

Job: TypeAlias = Callable[[], None]


class WorkerPool:
    """Threads come as they are needed, up to `size`; jobs beyond that wait."""

    def __init__(self, size: int, *, name: str = "rcp-worker") -> None:
        self._size = size
        self._name = name
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._threads = 0
        self._load = 0  # jobs that run or wait

    def submit(self, job: Job) -> None:
        with self._lock:
            self._load += 1
            spawn = self._threads < min(self._load, self._size)
            if spawn:
                self._threads += 1
        self._jobs.put(job)
        if spawn:
            name = f"{self._name}-{self._threads}"
            threading.Thread(target=self._work, name=name, daemon=True).start()

    def grow(self) -> None:
        """Make room for one job more, of a transport's own."""
        with self._lock:
            self._size += 1

    def has_room(self) -> bool:
        """Whether a job submitted now would start at once."""
        return self._load < self._size

    def close(self) -> None:
        """Let the threads end after the jobs that wait."""
        with self._lock:
            threads, self._threads = self._threads, 0
        for _ in range(threads):
            self._jobs.put(None)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            try:
                job()
            except Exception:
                logger.exception("a job failed")
            with self._lock:
                self._load -= 1


class LoopThread:
    """An event loop in a daemon thread, started when first asked for."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def get(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=self._run, args=(self._loop,), name="rcp-loop", daemon=True
                )
                self._thread.start()
            return self._loop

    def close(self, timeout: float = 5.0) -> None:
        """Cancel its tasks and end it; waits unless called on the loop itself."""
        with self._lock:
            loop, self._loop = self._loop, None
            thread, self._thread = self._thread, None
        if loop is None or thread is None:
            return
        asyncio.run_coroutine_threadsafe(_cancel_all(timeout), loop).add_done_callback(
            lambda _: loop.call_soon_threadsafe(loop.stop)
        )
        if thread is not threading.current_thread():
            thread.join(timeout + 1.0)

    @staticmethod
    def _run(loop: asyncio.AbstractEventLoop) -> None:
        try:
            loop.run_forever()
        finally:
            loop.close()


async def _cancel_all(timeout: float) -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    if others:
        await asyncio.wait(others, timeout=timeout)
