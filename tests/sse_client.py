"""A raw-socket HTTP/1.1 client that sees an event stream byte by byte, as it arrives.

with connect(port, "POST", "/api/chats", body={"content": "Hello?"}) as stream:
    stream.status, stream.headers["content-type"]
    stream.event()          # next Event(name, data); comments are skipped; None at the end
    stream.next()           # next Event or Comment
    stream.read()           # what is left of the body, and close; stream.json() parses it
    stream.reset()          # leave with a TCP reset
"""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Event:
    name: str
    text: str  # the joined data lines

    @property
    def data(self) -> Any:
        return json.loads(self.text)


@dataclass(frozen=True, slots=True)
class Comment:
    text: str


class Decoder:
    """Bytes in any split → events. Lines end at CR, LF or CRLF and nowhere else."""

    def __init__(self) -> None:
        self._buffer = b""
        self._name = ""
        self._data: list[str] = []

    def feed(self, chunk: bytes) -> Iterator[Event | Comment]:
        self._buffer += chunk
        while (line := self._line()) is not None:
            if not line:
                if self._data:
                    yield Event(self._name or "message", "\n".join(self._data))
                self._name, self._data = "", []
            elif line.startswith(":"):
                yield Comment(line[1:].removeprefix(" "))
            else:
                field, _, value = line.partition(":")
                value = value.removeprefix(" ")
                if field == "event":
                    self._name = value
                elif field == "data":
                    self._data.append(value)

    def _line(self) -> str | None:
        ends = [at for at in map(self._buffer.find, (b"\r", b"\n")) if at >= 0]
        if not ends:
            return None
        at, width = min(ends), 1
        if self._buffer[at : at + 1] == b"\r":
            if at + 1 == len(self._buffer):
                return None  # its LF may come with the next bytes
            width = 2 if self._buffer[at + 1 : at + 2] == b"\n" else 1
        line, self._buffer = self._buffer[:at], self._buffer[at + width :]
        return line.decode()


class Stream:
    """One request on its own connection, with its response read as it comes."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self._received = b""
        self._decoder = Decoder()
        self._ready: list[Event | Comment] = []
        self.chunks: list[bytes] = []  # as framed by the server
        head = self._until(b"\r\n\r\n").decode("latin-1").split("\r\n")
        self.status = int(head[0].split()[1])
        self.headers: dict[str, str] = {}
        for line in head[1:]:
            name, _, value = line.partition(":")
            self.headers[name.strip().lower()] = value.strip()
        self._left = int(self.headers.get("content-length", -1))
        self._ended = self._left == 0

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def next(self) -> Event | Comment | None:
        """The next event or comment, None at the end of the body."""
        while not self._ready:
            if (chunk := self._chunk()) is None:
                return None
            self._ready.extend(self._decoder.feed(chunk))
        return self._ready.pop(0)

    def event(self) -> Event | None:
        while isinstance(found := self.next(), Comment):
            pass
        return found

    def events(self) -> list[Event]:
        return list(iter(self.event, None))

    def read(self) -> bytes:
        """What is left of the body; then the connection is closed."""
        with self:
            return b"".join(iter(self._chunk, None))

    def json(self) -> Any:
        return json.loads(self.read())

    def close(self) -> None:
        self.sock.close()

    def reset(self) -> None:
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.sock.close()

    def _chunk(self) -> bytes | None:
        """The next piece of the body: a chunk where it is chunked. EOFError when it is cut off."""
        if self._ended:
            return None
        if self._left >= 0:
            chunk = self._exactly(self._left)
            self._ended = True
        else:
            size = int(self._until(b"\r\n"), 16)
            chunk = self._exactly(size + 2)[:-2]
            self._ended = size == 0
        self.chunks.append(chunk)
        return chunk or None

    def _until(self, mark: bytes) -> bytes:
        while mark not in self._received:
            self._receive()
        found, self._received = self._received.split(mark, 1)
        return found

    def _exactly(self, size: int) -> bytes:
        while len(self._received) < size:
            self._receive()
        found, self._received = self._received[:size], self._received[size:]
        return found

    def _receive(self) -> None:
        received = self.sock.recv(65536)
        if not received:
            raise EOFError("the server closed the connection in the middle")
        self._received += received


def send(
    port: int,
    method: str = "GET",
    path: str = "/",
    *,
    body: Mapping[str, Any] | bytes | None = None,
    headers: Mapping[str, str] | None = None,
    timeout: float = 10.0,
    receive_buffer: int | None = None,
) -> socket.socket:
    """Send one request, and do not wait for anything."""
    sock = socket.socket()
    sock.settimeout(timeout)
    if receive_buffer is not None:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    try:
        sock.connect(("127.0.0.1", port))
    except OSError:
        sock.close()
        raise
    sent = {"Host": f"127.0.0.1:{port}"}
    content = b""
    if body is not None:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        sent |= {"Content-Type": "application/json", "Content-Length": str(len(content))}
    fields = "".join(f"{name}: {value}\r\n" for name, value in (sent | dict(headers or {})).items())
    sock.sendall(f"{method} {path} HTTP/1.1\r\n{fields}\r\n".encode() + content)
    return sock


def connect(port: int, method: str = "GET", path: str = "/", **options: Any) -> Stream:
    """Send one request and read the head of its response. Options: those of `send`.

    `receive_buffer` makes a reader that blocks its server early.
    """
    sock = send(port, method, path, **options)
    try:
        return Stream(sock)
    except BaseException:
        sock.close()
        raise
