"""Fetched documents → passages, ahead of the writing: a child process reads while we store.

Below: parse, chunk. Above: ingest.syncing. The child is started once there is enough to read; it
needs no database. Its order is kept, because which of two duplicates comes first counts.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from multiprocessing.connection import wait

from retrieval.ingest.base import CrawlEnd, Document, Fetched, Passage, Skipped
from retrieval.ingest.chunk import passages
from retrieval.ingest.parse import parse

ALONE = 24  # documents that are read in this process before a child is worth its start
AHEAD = 8  # documents that wait, read or unread; bounds the memory
UNEXPECTED = "could not be read (unexpected error, see the log)"

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a document says. Blocks are left out: they are most of the memory."""

    document: Document
    passages: tuple[Passage, ...]


Item = Fetched | Skipped | CrawlEnd
Read = Reading | Skipped


def read(fetched: Fetched) -> Read:
    """Never raises: one document must not end the sync of the others."""
    try:
        document = parse(fetched)
        if isinstance(document, Skipped):
            return document
        found = () if document.noindex else passages(document)
    except Exception:
        logger.exception("Could not read %s", fetched.url)
        return Skipped(url=fetched.url, reason=UNEXPECTED, transient=True)
    return Reading(
        document=replace(document, blocks=(), visible=None),
        passages=tuple(replace(passage, blocks=()) for passage in found),
    )


def read_ahead(
    items: Iterable[Item], *, needed: Callable[[Fetched], bool]
) -> Generator[tuple[Item, Read | None]]:
    """The items in their order, each `needed` document with what it says."""
    waiting: deque[tuple[Item, Future[Read] | None]] = deque()
    reader = _Reader()
    try:
        for item in items:
            if isinstance(item, Fetched) and needed(item):
                waiting.append((item, reader.submit(item)))
            else:
                waiting.append((item, None))
            while waiting and (len(waiting) > AHEAD or _is_ready(waiting[0][1])):
                yield _result(reader, *waiting.popleft())
        while waiting:
            yield _result(reader, *waiting.popleft())
    finally:
        reader.close()


def _is_ready(future: Future[Read] | None) -> bool:
    return future is None or future.done()


def _result(reader: _Reader, item: Item, future: Future[Read] | None) -> tuple[Item, Read | None]:
    if future is None:
        return item, None
    try:
        return item, future.result()
    except BrokenProcessPool:
        url = item.url if isinstance(item, Fetched) else ""
        logger.error("The reading process ended while %s or one near it was read", url)
        reader.close()
        return item, Skipped(url=url, reason=UNEXPECTED, transient=True)


class _Reader:
    """Reads here at first, then in a child process; a new one where the last has died."""

    def __init__(self) -> None:
        self._submitted = 0
        self._pool: ProcessPoolExecutor | None = None

    def submit(self, fetched: Fetched) -> Future[Read]:
        self._submitted += 1
        if self._submitted <= ALONE or (os.cpu_count() or 1) == 1:
            done: Future[Read] = Future()
            done.set_result(read(fetched))
            return done
        if self._pool is None:
            spawn = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(1, mp_context=spawn, initializer=_follow_parent)
        try:
            return self._pool.submit(read, fetched)
        except BrokenProcessPool as error:
            failed: Future[Read] = Future()
            failed.set_exception(error)
            return failed

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None


def _follow_parent() -> None:
    """In the child: Ctrl-C is the parent's to handle, and a killed parent leaves no orphan."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_leave_with, args=(parent.sentinel,), daemon=True).start()


def _leave_with(sentinel: int) -> None:
    wait([sentinel])
    os._exit(1)
