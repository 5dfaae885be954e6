"""Serves one client over two file descriptors: one JSON text a line, each way.

Below: dispatcher, linger, lines, lookout. Above: Server.serve_stdio. Messages are admitted in the
order they come, so that a cancel always finds its request; handlers run concurrently.
"""

from __future__ import annotations

import logging
import os
import select
import sys
import threading
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from retrieval.rcp.calls import Call
from retrieval.rcp.errors import PayloadTooLarge
from retrieval.rcp.messages import Reply, failure
from retrieval.rcp.peers import Peer
from retrieval.rcp.session import Session
from retrieval.rcp.transports.lines import LineSplitter
from retrieval.rcp.transports.linger import Linger
from retrieval.rcp.transports.lookout import Lookout, run_timed

if TYPE_CHECKING:
    from retrieval.rcp.server import Server

logger = logging.getLogger("rcp")

CHUNK = 16_384


def serve_process(server: Server) -> None:
    """Serve this process's stdin and stdout, which nothing else reads or writes from now on.

    Whatever handlers print goes to stderr, that of C libraries and child processes included.
    """
    source, sink = os.dup(0), os.dup(1)
    os.dup2(2, 1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    if callable(reconfigure := getattr(sys.stdout, "reconfigure", None)):
        reconfigure(line_buffering=True)
    try:
        StdioTransport(server, source, sink).run()
    finally:
        server.close()
        os.close(sink)


class StdioTransport:
    def __init__(self, server: Server, source: int, sink: int) -> None:
        self._dispatcher = server.dispatcher
        self._runtime = server.runtime
        self._source = source
        self._writer = LineWriter(sink, on_broken=self._abandon)
        self._lines = LineSplitter(server.limits.message_bytes)
        self._session = Session()
        self._peer = Peer(session=self._session, outlet=self._writer, log_outlet=self._writer)
        self._received = 0
        self._at_end = False
        self._admitted: deque[Call] = deque()  # touched by the thread that reads alone
        self._here: Call | None = None
        self._lookout = Lookout(self._hand_over)
        self._linger = Linger()
        self._comes = select.poll()
        self._comes.register(source, select.POLLIN)
        self._finished = threading.Event()
        os.set_blocking(source, True)
        os.set_blocking(sink, True)

    def run(self) -> None:
        """Returns when the client has shut down or gone, and everything is answered."""
        self._runtime.start()
        self._runtime.pool.grow()  # a thread for reading
        self._runtime.pool.submit(self._read)
        try:
            self._finished.wait()
        except KeyboardInterrupt:
            self._abandon()
        finally:
            self._lookout.stop()

    def _read(self) -> None:
        """Admit and start what comes, until the end or until another thread has taken over."""
        while True:
            while self._admitted:
                call = self._admitted.popleft()
                if not self._may_run_here(call):
                    self._start(call)
                elif not self._run_here(call):
                    return
            if self._session.closed or self._at_end:
                break
            self._admitted.extend(self._admit(self._next_lines()))
        self._writer.wait_for_answers(
            self._received, timeout=self._runtime.limits.deadline_seconds + 1.0
        )
        self._finished.set()

    def _next_lines(self) -> list[bytes | None]:
        while self._linger.goes_on() and not self._comes.poll(0):
            pass
        try:
            chunk = os.read(self._source, CHUNK)
        except OSError:
            chunk = b""
        self._linger.asked()
        if chunk:
            return self._lines.feed(chunk)
        self._at_end = True
        return self._lines.end()

    def _admit(self, lines: list[bytes | None]) -> list[Call]:
        calls: list[Call] = []
        for line in lines:
            if self._session.closed:
                break
            self._received += 1
            if line is None:
                limit = self._runtime.limits.message_bytes
                error = PayloadTooLarge(f"a message may have {limit} bytes")
                self._writer.reply(failure(None, error))
            else:
                calls += self._dispatcher.receive(line, self._peer, self._writer.reply)
        return calls

    def _may_run_here(self, call: Call) -> bool:
        route = call.route
        return route.quick and not route.is_async and self._runtime.pool.has_room()

    def _run_here(self, call: Call) -> bool:
        """Whether this thread still reads afterwards."""
        self._here = call
        turn = self._lookout.begin()
        call.run()
        if not self._lookout.keeps_on(turn):
            return False
        if not self._runtime.in_flight:
            self._linger.answered()
        return True

    def _hand_over(self) -> None:
        """Called by the lookout: the call that runs in the reading thread takes its time."""
        if self._here is not None:
            self._here.route.quick = False
        self._runtime.pool.submit(self._read)

    def _start(self, call: Call) -> None:
        if call.route.is_async:
            call.start()
        else:
            self._runtime.pool.submit(partial(run_timed, call))

    def _abandon(self) -> None:
        """The client is gone: stop what runs and end."""
        self._session.closed = True
        self._runtime.abort_all("the client is gone")
        self._finished.set()


class LineWriter:
    """Writes whole lines, one at a time, and counts the messages that are answered."""

    def __init__(self, sink: int, *, on_broken: Callable[[], None]) -> None:
        self._sink = sink
        self._on_broken = on_broken
        self._lock = threading.Lock()
        self._answer = threading.Condition(self._lock)
        self._answered = 0
        self._awaited = False
        self._broken = False

    def reply(self, reply: Reply | None) -> None:
        with self._lock:
            if reply is not None:
                self._write(reply.text)
            self._answered += 1
            if self._awaited:
                self._answer.notify_all()
        if self._broken:
            self._on_broken()

    def frame(self, text: bytes, call: Call, *, wait: bool) -> bool:
        with self._lock:
            if not call.settled:
                self._write(text)
        if self._broken:
            self._on_broken()
        return True

    def wait_for_answers(self, count: int, *, timeout: float) -> None:
        with self._lock:
            self._awaited = True
            self._answer.wait_for(lambda: self._answered >= count or self._broken, timeout)

    def _write(self, text: bytes) -> None:
        data = text + b"\n"
        try:
            written = os.write(self._sink, data)
            while written < len(data):
                written += os.write(self._sink, memoryview(data)[written:])
        except OSError:
            self._broken = True
