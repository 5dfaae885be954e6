"""Bare clients for benchmarks/rcp.py: as little time of their own as Python can do with."""

from __future__ import annotations

import json
import socket
import subprocess
import threading
import time
from typing import Any

RETRIEVE = '{"jsonrpc":"2.0","id":%d,"method":"retrieve","params":{"query":"tower","k":1}}'
PATIENCE = 30.0  # seconds


class Stdio:
    """All clients on the one pipe; each asks again when its own answer is in."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None and process.stdout is not None
        self._to, self._from = process.stdin, process.stdout
        self._next = 1

    def ask(self, message: dict[str, Any]) -> None:
        self._send(json.dumps(message))
        while b'"method"' in self._from.readline():
            pass

    def run(self, seconds: float, clients: int) -> list[float]:
        asked: dict[int, float] = {}
        latencies: list[float] = []
        until = time.perf_counter() + seconds
        for _ in range(clients):
            self._retrieve(asked)
        while asked:
            answer = json.loads(self._from.readline())
            now = time.perf_counter()
            latencies.append(now - asked.pop(answer["id"]))
            if now < until:
                self._retrieve(asked)
        return latencies

    def _retrieve(self, asked: dict[int, float]) -> None:
        asked[self._next] = time.perf_counter()
        self._send(RETRIEVE % self._next)
        self._next += 1

    def _send(self, text: str) -> None:
        self._to.write(text.encode() + b"\n")
        self._to.flush()


class Http:
    """A connection a client, opened anew where the server has closed it."""

    def __init__(self, port: int, process: subprocess.Popen[bytes]) -> None:
        self._port = port
        until = time.monotonic() + PATIENCE
        while True:
            try:
                self._connect().close()
                return
            except OSError:
                if time.monotonic() > until or process.poll() is not None:
                    raise
                time.sleep(0.02)

    @staticmethod
    def free_port() -> int:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port: int = probe.getsockname()[1]
            return port

    def ask(self, message: dict[str, Any]) -> None:
        kind = b"text/event-stream" if "_meta" in message["params"] else b"application/json"
        connection = self._exchange(None, json.dumps(message).encode(), kind)
        if connection is not None:
            connection.close()

    def run(self, seconds: float, clients: int) -> list[float]:
        latencies: list[float] = []
        until = time.perf_counter() + seconds
        threads = [
            threading.Thread(target=self._keep_asking, args=(until, latencies))
            for _ in range(clients - 1)
        ]
        for thread in threads:
            thread.start()
        self._keep_asking(until, latencies)
        for thread in threads:
            thread.join()
        return latencies

    def _keep_asking(self, until: float, latencies: list[float]) -> None:
        connection: socket.socket | None = None
        number = 0
        begun = time.perf_counter()
        while begun < until:
            number += 1
            connection = self._exchange(connection, (RETRIEVE % number).encode())
            now = time.perf_counter()
            latencies.append(now - begun)
            begun = now
        if connection is not None:
            connection.close()

    def _exchange(
        self,
        connection: socket.socket | None,
        body: bytes,
        accept: bytes = b"application/json",
    ) -> socket.socket | None:
        """One request; returns the connection while it is open."""
        if connection is None:
            connection = self._connect()
        connection.sendall(
            b"POST /rcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            b"Accept: %b\r\nContent-Length: %d\r\n\r\n%b" % (accept, len(body), body)
        )
        received = b""
        while b"\r\n\r\n" not in received:
            received += self._receive(connection)
        head, _, rest = received.partition(b"\r\n\r\n")
        head = head.lower()
        if b"content-length:" in head:
            length = int(head.split(b"content-length:")[1].split(b"\r\n")[0])
            while len(rest) < length:
                rest += self._receive(connection)
        else:  # a stream, in chunks up to an empty one
            tail = rest
            while not tail.endswith(b"0\r\n\r\n"):
                tail = tail[-8:] + self._receive(connection)
        if b"connection: close" in head:
            connection.close()
            return None
        return connection

    def _connect(self) -> socket.socket:
        connection = socket.create_connection(("127.0.0.1", self._port), timeout=PATIENCE)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection

    @staticmethod
    def _receive(connection: socket.socket) -> bytes:
        data = connection.recv(65_536)
        if not data:
            raise ConnectionError("the server closed in the middle")
        return data
