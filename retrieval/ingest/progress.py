"""Progress of a sync for whoever watches: a bar on a terminal, plain lines elsewhere.

Below: tqdm. Above: ingest.syncing emits, the sync and demo commands show.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TextIO

from tqdm import tqdm

LINE_SECONDS = 5.0  # between two plain lines of one phase


class Phase(StrEnum):
    PAGES = "pages"
    VECTORS = "vectors"
    INDEX = "index"  # of vectors, from those that are stored


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """`done` of `total` (None: not known yet); `detail` is the page or model at hand."""

    phase: Phase
    done: int
    total: int | None = None
    detail: str = ""


Reporter = Callable[[Progress], None]


def silent(progress: Progress) -> None:
    """Report to nobody."""


@contextlib.contextmanager
def reporter(stream: TextIO) -> Iterator[Reporter]:
    """The reporter that suits the stream."""
    if stream.isatty():
        bars = _Bars(stream)
        try:
            yield bars.report
        finally:
            bars.close()
    else:
        yield _Lines(stream).report


class _Bars:
    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.bar: tqdm | None = None
        self.phase: Phase | None = None

    def report(self, progress: Progress) -> None:
        if progress.phase is not self.phase or (self.bar and progress.done < self.bar.n):
            self.close()
            self.phase = progress.phase
        if self.bar is None:
            self.bar = tqdm(
                desc=progress.phase, file=self.stream, unit="", dynamic_ncols=True, leave=True
            )
        if progress.total is not None and progress.total != self.bar.total:
            self.bar.total = progress.total
        self.bar.set_postfix_str(progress.detail[-50:], refresh=False)
        self.bar.update(progress.done - self.bar.n)

    def close(self) -> None:
        if self.bar is not None:
            self.bar.close()
            self.bar = None


class _Lines:
    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.phase: Phase | None = None
        self.said_at = 0.0

    def report(self, progress: Progress) -> None:
        now = time.monotonic()
        ended = progress.total is not None and progress.done >= progress.total
        if progress.phase is self.phase and not ended and now - self.said_at < LINE_SECONDS:
            return
        self.phase, self.said_at = progress.phase, now
        of = f"/{progress.total}" if progress.total is not None else ""
        detail = f"  {progress.detail}" if progress.detail else ""
        self.stream.write(f"{progress.phase}: {progress.done}{of}{detail}\n")
        self.stream.flush()
