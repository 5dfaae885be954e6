"""A server as a child process: requests down its stdin, everything else up its stdout.

Below: asyncio, lines. Above: aio. Its stderr goes where ours goes.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from asyncio.subprocess import PIPE, Process, SubprocessStreamProtocol
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from retrieval.rcp.client.transport import OnNotification
from retrieval.rcp.errors import ConnectionLost, RcpError
from retrieval.rcp.inflight import Key, key_of
from retrieval.rcp.jsonio import loads
from retrieval.rcp.messages import RequestId, is_request_id
from retrieval.rcp.transports.lines import LineSplitter

logger = logging.getLogger("rcp")

CHUNK = 65_536
MAX_LINE = 64_000_000  # bytes
MAX_NOISE = 1_000  # lines in a row that are no messages
GRACE_SECONDS = 2.0  # for the child to end by itself, then to end when told


class StdioClientTransport:
    def __init__(self, process: Process, pipes: asyncio.SubprocessTransport) -> None:
        self.on_notification: OnNotification = lambda message: None
        self._process = process
        self._pipes = pipes
        self._noise = 0
        self._waiting: dict[Key, asyncio.Future[Any]] = {}
        self._sending = asyncio.Lock()
        self._gone: ConnectionLost | None = None
        self._reader = asyncio.create_task(self._read())

    @classmethod
    async def start(
        cls,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | Path | None = None,
    ) -> StdioClientTransport:
        loop = asyncio.get_running_loop()
        try:
            pipes, protocol = await loop.subprocess_exec(
                lambda: SubprocessStreamProtocol(limit=CHUNK, loop=loop),
                *argv,
                stdin=PIPE,
                stdout=PIPE,
                stderr=None,
                env=env,
                cwd=cwd,
            )
        except OSError as error:
            raise ConnectionLost(f"{argv[0]} could not be started: {error.strerror}") from error
        return cls(Process(pipes, protocol, loop), pipes)

    async def exchange(self, id_: RequestId, text: bytes, *, streams: bool) -> Any:
        key = key_of(None, id_)
        if self._gone is not None:
            raise self._gone
        answer = self._waiting[key] = asyncio.get_running_loop().create_future()
        try:
            await self.notify(text)
            return await answer
        finally:
            del self._waiting[key]

    async def notify(self, text: bytes) -> None:
        stdin = self._process.stdin
        assert stdin is not None
        try:
            async with self._sending:
                stdin.write(text + b"\n")
                await stdin.drain()
        except (OSError, RuntimeError) as error:
            raise self._gone or ConnectionLost("the server does not read any more") from error

    def use_session(self, session: str) -> None:
        """One process, one session: nothing to tell apart."""

    async def close(self, *, at_once: bool = False) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            deserves_grace = not at_once and self._noise < MAX_NOISE
            if deserves_grace and not await self._ended():
                with contextlib.suppress(ProcessLookupError):
                    self._process.terminate()
                await self._ended()
        finally:
            self._pipes.close()  # kills the child; who inherited its pipes is not waited for
        await self._ended()
        self._reader.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._reader
        self._lose("the connection is closed")

    async def _ended(self) -> bool:
        try:
            async with asyncio.timeout(GRACE_SECONDS):
                await self._process.wait()
        except TimeoutError:
            return False
        return True

    async def _read(self) -> None:
        stdout = self._process.stdout
        assert stdout is not None
        lines = LineSplitter(MAX_LINE)
        while chunk := await stdout.read(CHUNK):
            for line in lines.feed(chunk):
                if self._take(line):
                    self._noise = 0
                elif not self._bears_noise():
                    self._lose("the server does not write messages")
                    return
        self._lose("the server ended")

    def _bears_noise(self) -> bool:
        """Whether to go on after one more line that is no message; a run of them is told once."""
        self._noise += 1
        if self._noise == 1:
            logger.warning("the server wrote a line that is not a message")
        return self._noise < MAX_NOISE

    def _take(self, line: bytes | None) -> bool:
        """Whether the line held a message."""
        try:
            message = loads(line or b"")
        except RcpError:
            return False
        is_message = False
        for member in message if isinstance(message, list) else [message]:
            if not isinstance(member, dict):
                continue
            if "method" in member:
                is_message = True
                self.on_notification(member)
            elif is_request_id(id_ := member.get("id")):
                is_message = True
                answer = self._waiting.get(key_of(None, id_))
                if answer is not None and not answer.done():
                    answer.set_result(member)
        return is_message

    def _lose(self, reason: str) -> None:
        self._gone = self._gone or ConnectionLost(reason)
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(self._gone)
