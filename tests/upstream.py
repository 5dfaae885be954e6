"""A Chat Completions server on raw sockets that plays scripts, byte by byte.

    with upstream(answer("One ", "two.")) as server:          # every request is answered so
        model = OpenAICompatibleModel(base_url=server.base_url, model="m")
    with upstream(error(503), answer("Now.")) as server: …    # one script a request, the last stays
    with upstream([HEAD, token("One "), STALL]) as server:    # then silence until the client leaves
        …
        server.requests[0].json, .headers, .path
        server.closed_after(moment)   # seconds from `moment` to when the client's socket closed

A script is a sequence of steps: bytes are written as they are, the others are below. At its end the
connection is closed, which ends a body without a length. It runs in threads of its own, so that
tests with and without an event loop, and servers in other processes, can use it.
"""

from __future__ import annotations

import json
import select
import socket
import struct
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

PATIENCE = 20.0  # seconds that anything here lasts at most


class Do(Enum):
    STALL = "silent until the client closes"
    RESET = "a TCP reset"
    KEEP = "the next request on the same connection"


STALL, RESET, KEEP = Do.STALL, Do.RESET, Do.KEEP


@dataclass(frozen=True, slots=True)
class Until:
    """Goes on when the test says so, or ends when the client closes."""

    event: threading.Event


@dataclass(frozen=True, slots=True)
class Forever:
    """Writes the same bytes again and again until the client closes."""

    data: bytes
    every: float = 0.01


Step = bytes | Do | Until | Forever
Script = Sequence[Step]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    method: str
    path: str
    headers: Mapping[str, str]  # names in lower case
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


# The parts of scripts


def head(
    status: int = 200, *, content_type: str = "text/event-stream", **headers: str | int
) -> bytes:
    """A response's head; headers as keywords, with _ for -."""
    lines = [f"HTTP/1.1 {status} Scripted", f"Content-Type: {content_type}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode()


HEAD = head()
CHUNKED_HEAD = head(Transfer_Encoding="chunked")
LAST_CHUNK = b"0\r\n\r\n"
DONE = b"data: [DONE]\n\n"


def frame(value: object) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def chunk(delta: object, finish_reason: object = None, **more: object) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    return frame({"object": "chat.completion.chunk", "choices": [choice], **more})


def token(text: str) -> bytes:
    return chunk({"content": text})


def thought(text: str, name: str = "reasoning_content") -> bytes:
    return chunk({"content": None, name: text})


def finish(reason: str = "stop") -> bytes:
    return chunk({}, reason)


def usage(prompt: object = 3, completion: object = 2) -> bytes:
    counts = {"prompt_tokens": prompt, "completion_tokens": completion}
    return frame({"choices": [], "usage": counts})


def answer(*texts: str, reason: str = "stop") -> list[Step]:
    return [
        HEAD,
        chunk({"role": "assistant", "content": ""}),
        *map(token, texts),
        finish(reason),
        DONE,
    ]


def error(status: int, told: object = None, **headers: str | int) -> list[Step]:
    """An HTTP error with an OpenAI-like body, or with `told` as it is where it is bytes."""
    body = told if isinstance(told, bytes) else json.dumps({"error": told or {}}).encode()
    length = len(body)
    return [
        head(status, content_type="application/json", Content_Length=length, **headers) + body,
        KEEP,
    ]


def chunked(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def one_by_one(*parts: bytes) -> list[Step]:
    """The same bytes, each written alone."""
    return [bytes([byte]) for byte in b"".join(parts)]


# The server


@dataclass(kw_only=True)
class Upstream:
    listener: socket.socket
    scripts: Sequence[Script]
    models: Script
    requests: list[Request] = field(default_factory=list)
    connections: int = 0
    closed_at: list[float] = field(default_factory=list)  # when clients closed, by time.monotonic
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _open: set[socket.socket] = field(default_factory=set)
    _threads: list[threading.Thread] = field(default_factory=list)

    @property
    def port(self) -> int:
        port: int = self.listener.getsockname()[1]
        return port

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def closed_after(self, moment: float, *, times: int = 1) -> float:
        """Seconds from `moment` to the close of so many clients' sockets. Blocks."""
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.closed_at) >= times, PATIENCE)
            return self.closed_at[times - 1] - moment

    def wait_for_requests(self, times: int = 1) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.requests) >= times, PATIENCE)

    def serve(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection.settimeout(PATIENCE)
            self.connections += 1
            self._open.add(connection)
            thread = threading.Thread(target=self._converse, args=(connection,), daemon=True)
            thread.start()
            self._threads.append(thread)

    def stop(self) -> None:
        with suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for connection in list(self._open):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(PATIENCE)

    def _converse(self, connection: socket.socket) -> None:
        try:
            while (request := _read_request(connection)) is not None:
                if not self._play(connection, self._script_for(request)):
                    return
        except (OSError, _ClientGone):
            with self._changed:
                self.closed_at.append(time.monotonic())
                self._changed.notify_all()
        finally:
            self._open.discard(connection)
            connection.close()

    def _script_for(self, request: Request) -> Script:
        with self._changed:
            if request.path.endswith("/models"):
                script = self.models
            else:
                asked = sum(not earlier.path.endswith("/models") for earlier in self.requests)
                script = self.scripts[min(asked, len(self.scripts) - 1)]
            self.requests.append(request)
            self._changed.notify_all()
        return script

    def _play(self, connection: socket.socket, script: Script) -> bool:
        """Whether the connection is kept for another request."""
        deadline = time.monotonic() + PATIENCE
        for step in script:
            match step:
                case bytes():
                    connection.sendall(step)
                case Forever(data, every):
                    while time.monotonic() < deadline and not _is_gone(connection, every):
                        connection.sendall(data)
                    raise _ClientGone
                case Until(event):
                    while not event.is_set():
                        if time.monotonic() > deadline or _is_gone(connection, 0.01):
                            raise _ClientGone
                case Do.STALL:
                    _is_gone(connection, PATIENCE)
                    raise _ClientGone
                case Do.RESET:
                    linger = struct.pack("ii", 1, 0)
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                    return False
                case Do.KEEP:
                    return True
        return False


class _ClientGone(Exception):
    pass


@contextmanager
def upstream(*scripts: Script, models: Script | None = None) -> Iterator[Upstream]:
    listener = socket.create_server(("127.0.0.1", 0))
    listed = json.dumps({"object": "list", "data": [{"id": "scripted"}]}).encode()
    start = head(content_type="application/json", Content_Length=len(listed))
    default: Script = [start + listed, KEEP]
    server = Upstream(
        listener=listener,
        scripts=scripts or [answer("Yes.")],
        models=default if models is None else models,
    )
    thread = threading.Thread(target=server.serve, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.stop()
        thread.join(PATIENCE)


@contextmanager
def nobody() -> Iterator[str]:
    """The base URL of a port on which nobody listens, and nobody else will."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{bound.getsockname()[1]}/v1"


def _read_request(connection: socket.socket) -> Request | None:
    """The next request; None where the client closes between two."""
    data = b""
    while b"\r\n\r\n" not in data:
        part = connection.recv(65536)
        if not part:
            return None
        data += part
        if data.startswith(b"\x16"):  # the greeting of TLS
            connection.sendall(head(400) + b"This is plain HTTP.")
            return None
    start, _, body = data.partition(b"\r\n\r\n")
    first, *lines = start.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (x.partition(":") for x in lines)}
    while len(body) < int(headers.get("content-length", 0)):
        part = connection.recv(65536)
        if not part:
            raise _ClientGone
        body += part
    method, path, _ = first.split(" ")
    return Request(method=method, path=path, headers=headers, body=body)


def _is_gone(connection: socket.socket, seconds: float) -> bool:
    """Whether the client closes within so many seconds. It sends nothing while it is answered."""
    readable, _, _ = select.select([connection], [], [], seconds)
    return bool(readable) and not connection.recv(1, socket.MSG_PEEK)
