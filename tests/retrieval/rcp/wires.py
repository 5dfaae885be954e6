"""One way to talk to a server over every transport, for the contract tests.

A `Wire` starts requests and collects what comes back; every message that arrives is checked
against the protocol's schema. `OPENERS` maps a transport's name to what opens a wire on a given
`rcp.Server`; another transport joins the contract by an entry here.
"""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import itertools
import json
import os
import queue
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any, Protocol

import uvicorn

from retrieval import rcp
from retrieval.rcp.runtime import Runtime
from retrieval.rcp.transports.asgi import RcpApp
from retrieval.rcp.transports.stdio import StdioTransport
from retrieval.rcp.transports.turns import LoopTurns
from tests.retrieval.rcp import schema

PATIENCE = 10.0  # seconds until a missing answer fails a test
NOTHING = object()


class Pending:
    """One request under way: its frames as they come, then its reply."""

    def __init__(self, method: str | None = None) -> None:
        self.method = method
        self.frames: list[dict[str, Any]] = []
        self._frames: queue.Queue[dict[str, Any]] = queue.Queue()
        self._reply: queue.Queue[Any] = queue.Queue()
        self._taken: Any = NOTHING

    def add_frame(self, frame: dict[str, Any]) -> None:
        schema.check(frame)
        assert self._reply.empty(), "a frame after the reply"
        self.frames.append(frame)
        self._frames.put(frame)

    def settle(self, reply: Any) -> None:
        for member in reply if isinstance(reply, list) else [reply]:
            if member is not None:
                schema.check(member, method=self.method)
        self._reply.put(reply)

    def next_frame(self) -> dict[str, Any]:
        return self._frames.get(timeout=PATIENCE)

    def reply(self) -> Any:
        """The reply, or None where none is due."""
        if self._taken is NOTHING:
            self._taken = self._reply.get(timeout=PATIENCE)
        return self._taken

    def answered_again(self) -> bool:
        return not self._reply.empty()


class Wire(Protocol):
    stateless: bool  # every request counts as initialized
    refuses_doubles: bool  # an id in flight may not be used again

    def start(self, message: Any, *, stream: bool = True) -> Pending: ...

    def send_raw(self, text: bytes) -> list[Any]:
        """Send anything; returns all the replies that it brings."""
        ...

    def leave(self, pending: Pending) -> None:
        """Go away while a request runs, as far as the transport knows of leaving."""
        ...


class MemoryWire:
    stateless = False
    refuses_doubles = True

    def __init__(self, server: rcp.Server) -> None:
        self._server = server

    def start(self, message: Any, *, stream: bool = True) -> Pending:
        pending = Pending(_method_of(message))

        def run() -> None:
            on_frame = pending.add_frame if stream else None
            pending.settle(self._server.handle(message, on_frame=on_frame))

        if _is_notification(message):
            run()
        else:
            threading.Thread(target=run, daemon=True).start()
        return pending

    def send_raw(self, text: bytes) -> list[Any]:
        reply = self._server.handle(text)
        return [] if reply is None else [reply]

    def leave(self, pending: Pending) -> None:
        raise NotImplementedError


class StdioWire:
    stateless = False
    refuses_doubles = True

    def __init__(self, sink: int, source: int) -> None:
        self._sink = sink
        self._source = source
        self._lock = threading.Lock()
        self._by_id: dict[Any, Pending] = {}
        self._by_token: dict[Any, Pending] = {}
        self._batches: queue.Queue[Pending] = queue.Queue()
        self._loose: queue.Queue[Any] = queue.Queue()
        self._marks = itertools.count()
        threading.Thread(target=self._read, daemon=True).start()

    def start(self, message: Any, *, stream: bool = True) -> Pending:
        pending = Pending(_method_of(message))
        if isinstance(message, list):
            self._batches.put(pending)
        elif not _is_notification(message):
            self._by_id[_typed(message["id"])] = pending
        for member in message if isinstance(message, list) else [message]:
            if (token := _token_of(member)) is not None:
                self._by_token[_typed(token)] = pending
        self._write(json.dumps(message).encode())
        if _is_notification(message):
            pending.settle(None)
        return pending

    def send_raw(self, text: bytes) -> list[Any]:
        mark = f"mark-{next(self._marks)}"
        self._write(text)
        self.start({"jsonrpc": "2.0", "id": mark, "method": "ping"}).reply()
        found = []
        while not self._loose.empty():
            found.append(self._loose.get())
        return found

    def leave(self, pending: Pending) -> None:
        raise NotImplementedError

    def _write(self, text: bytes) -> None:
        with self._lock:
            os.write(self._sink, text + b"\n")

    def _read(self) -> None:
        with os.fdopen(self._source, "rb") as lines:
            for line in lines:
                self._take(json.loads(line))

    def _take(self, message: Any) -> None:
        if isinstance(message, list) and not self._batches.empty():
            self._batches.get().settle(message)
        elif isinstance(message, dict) and "method" in message:
            token = message["params"].get("progressToken")
            self._by_token[_typed(token)].add_frame(message)
        elif isinstance(message, dict) and _typed(message["id"]) in self._by_id:
            self._by_id[_typed(message["id"])].settle(message)
        else:
            for member in message if isinstance(message, list) else [message]:
                schema.check(member)
            self._loose.put(message)


class HttpWire:
    refuses_doubles = False

    def __init__(self, port: int, *, stateless: bool, headers: dict[str, str]) -> None:
        self.stateless = stateless
        self._port = port
        self._headers = headers
        self._open: dict[int, http.client.HTTPConnection] = {}

    def start(self, message: Any, *, stream: bool = True) -> Pending:
        pending = Pending(_method_of(message))
        accept = "text/event-stream" if stream else "application/json"
        connection = self._post(json.dumps(message).encode(), accept)
        self._open[id(pending)] = connection

        def read() -> None:
            with contextlib.suppress(OSError, http.client.HTTPException):
                response = connection.getresponse()
                _read_response(response, pending)
            connection.close()

        if _is_notification(message):
            read()
        else:
            threading.Thread(target=read, daemon=True).start()
        return pending

    def send_raw(self, text: bytes) -> list[Any]:
        connection = self._post(text, "application/json")
        pending = Pending()
        _read_response(connection.getresponse(), pending)
        connection.close()
        reply = pending.reply()
        return [] if reply is None else [reply]

    def leave(self, pending: Pending) -> None:
        connection = self._open[id(pending)]
        assert connection.sock is not None
        connection.sock.shutdown(2)

    def _post(self, body: bytes, accept: str) -> http.client.HTTPConnection:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=PATIENCE)
        connection.request("POST", "/rcp", body, {"Accept": accept, **self._headers})
        return connection


def _read_response(response: http.client.HTTPResponse, pending: Pending) -> None:
    if response.status == 204:
        pending.settle(None)
    elif response.headers["content-type"].startswith("text/event-stream"):
        for line in response:
            if line.startswith(b"data:"):
                message = json.loads(line[5:])
                if isinstance(message, dict) and "method" in message:
                    pending.add_frame(message)
                else:
                    pending.settle(message)
    else:
        pending.settle(json.loads(response.read()))


class Host:
    """A uvicorn on a free port whose application is swapped from test to test."""

    def __init__(self) -> None:
        self.app: RcpApp | None = None
        config = uvicorn.Config(
            self._serve, port=0, interface="asgi3", lifespan="off", log_level="warning"
        )
        self._server = uvicorn.Server(config)
        self._runtime = Runtime(rcp.Limits())
        self.turns = LoopTurns(self._runtime, asyncio.new_event_loop())  # as serve_http runs it
        self._thread = threading.Thread(
            target=self.turns.run, args=(self._server.serve(),), daemon=True
        )
        self._thread.start()
        while not self._server.started:
            assert self._thread.is_alive()
            threading.Event().wait(0.005)
        self.port: int = self._server.servers[0].sockets[0].getsockname()[1]

    async def _serve(self, scope: Any, receive: Any, send: Any) -> None:
        assert self.app is not None
        await self.app(scope, receive, send)

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join(PATIENCE)
        self._runtime.close()


_host: Host | None = None


def host() -> Host:
    global _host
    if _host is None:
        _host = Host()
    return _host


def stop_host() -> None:
    global _host
    if _host is not None:
        _host.stop()
        _host = None


@contextlib.contextmanager
def open_memory(server: rcp.Server) -> Iterator[Wire]:
    yield MemoryWire(server)


@contextlib.contextmanager
def open_stdio(server: rcp.Server) -> Iterator[Wire]:
    their_source, our_sink = os.pipe()
    our_source, their_sink = os.pipe()
    transport = StdioTransport(server, their_source, their_sink)
    thread = threading.Thread(target=transport.run, daemon=True)
    thread.start()
    try:
        yield StdioWire(our_sink, our_source)
    finally:
        os.close(our_sink)
        thread.join(PATIENCE)
        os.close(their_sink)
        os.close(their_source)


def _open_http(stateless: bool) -> Callable[[rcp.Server], AbstractContextManager[Wire]]:
    @contextlib.contextmanager
    def open_(server: rcp.Server) -> Iterator[Wire]:
        serving = host()
        endpoint = server.endpoint(stateless=stateless)
        # The stand-alone server runs quick handlers between the turns of its loop.
        serving.app = RcpApp(endpoint, turns=None if stateless else serving.turns)
        headers = {"RCP-Session": os.urandom(8).hex()}
        yield HttpWire(serving.port, stateless=stateless, headers=headers)

    return open_


Opener = Callable[[rcp.Server], AbstractContextManager[Wire]]
OPENERS: dict[str, Opener] = {
    "memory": open_memory,
    "stdio": open_stdio,
    "http": _open_http(stateless=False),
    "http-stateless": _open_http(stateless=True),
}


def _method_of(message: Any) -> str | None:
    return message.get("method") if isinstance(message, dict) else None


def _is_notification(message: Any) -> bool:
    members = message if isinstance(message, list) else [message]
    return all(isinstance(member, dict) and "id" not in member for member in members)


def _token_of(message: Any) -> Any:
    meta = (message.get("params") or {}).get("_meta") if isinstance(message, dict) else None
    return meta.get("progressToken") if isinstance(meta, dict) else None


def _typed(value: Any) -> tuple[type, str]:
    return type(value), json.dumps(value)
