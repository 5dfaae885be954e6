"""The crawl's child process as its parent sees it: a job in, frames out, never a hang.

Below: wire. Above: process. The child is in a session of its own, so that a Ctrl-C reaches it only
through us; it ends by itself when our end of its pipe is gone.
"""

from __future__ import annotations

import os
import selectors
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from time import monotonic

from retrieval.ingest.crawl.wire import Decoder, Frame

ROOT = Path(__file__).resolve().parents[3]
COMMAND = (sys.executable, "-m", "retrieval.ingest.crawl.child")
SILENCE_SECONDS = 60.0  # a living child speaks every few seconds
READ_BYTES = 256 * 1024
LAST_WORDS = 4_000  # bytes


class ChildLost(Exception):
    """The child cannot finish the job; the message says why."""


class Child:
    """`job`: frames to send, made as they are needed. `seconds`: for the whole job."""

    def __init__(self, job: Iterator[bytes], *, seconds: float) -> None:
        self._job = job
        self._rest = memoryview(b"")
        self._seconds = seconds
        self._stderr = bytearray()
        self._decoder = Decoder()
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(
            COMMAND, cwd=ROOT, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0,
            start_new_session=True,
        )  # fmt: skip

    @property
    def pid(self) -> int:
        return self._process.pid

    def frames(self) -> Iterator[Frame]:
        """Until the child closes its output. Raises ChildLost, BadFrame."""
        ends = monotonic() + self._seconds
        stdin, stdout, stderr = self._descriptors()
        with selectors.DefaultSelector() as selector:
            os.set_blocking(stdin, False)
            selector.register(stdin, selectors.EVENT_WRITE)
            selector.register(stdout, selectors.EVENT_READ)
            selector.register(stderr, selectors.EVENT_READ)
            while True:
                ready = selector.select(min(SILENCE_SECONDS, max(0.0, ends - monotonic())))
                if monotonic() >= ends:
                    raise ChildLost(f"the crawl took longer than {self._seconds:g} seconds")
                if not ready:
                    raise ChildLost("the crawler stopped responding")
                for key, _ in ready:
                    if key.fd == stdin and not self._send(stdin):
                        selector.unregister(stdin)
                    elif key.fd == stderr and not self._listen(stderr):
                        selector.unregister(stderr)
                    elif key.fd == stdout:
                        data = os.read(stdout, READ_BYTES)
                        if not data:
                            raise ChildLost(f"the crawler ended early ({self._status()})")
                        yield from self._decoder.feed(data)

    def last_words(self) -> str:
        """The end of what the child wrote to standard error."""
        return self._stderr.decode("utf-8", "replace").strip()

    def kill(self) -> None:
        """End the process, if it still runs, and release what it held."""
        with suppress(ProcessLookupError):
            self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()

    def _descriptors(self) -> tuple[int, int, int]:
        streams = (self._process.stdin, self._process.stdout, self._process.stderr)
        stdin, stdout, stderr = (stream.fileno() for stream in streams if stream is not None)
        return stdin, stdout, stderr

    def _send(self, stdin: int) -> bool:
        """Send a piece of the job; False when there is no more to send."""
        try:
            if not self._rest:
                self._rest = memoryview(next(self._job))
            self._rest = self._rest[os.write(stdin, self._rest) :]
        except StopIteration:
            return False
        except BrokenPipeError:
            return False  # its output tells the rest
        return True

    def _listen(self, stderr: int) -> bool:
        data = os.read(stderr, READ_BYTES)
        self._stderr = (self._stderr + data)[-LAST_WORDS:]
        return bool(data)

    def _status(self) -> str:
        try:
            status = self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            return "it closed its output"
        return f"signal {-status}" if status < 0 else f"exit status {status}"
