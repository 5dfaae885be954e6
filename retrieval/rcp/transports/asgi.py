"""The stand-alone server's ASGI application: `POST /rcp` and `POST /rcp/<method>`.

Below: transports.http, turns. Above: transports.serve; may be mounted in any ASGI server.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import aclosing
from functools import lru_cache
from typing import Any, TypeAlias

from retrieval.rcp.calls import Call
from retrieval.rcp.errors import (
    InvalidRequest,
    NotFound,
    PayloadTooLarge,
    RcpError,
    Unauthorized,
    error_of,
)
from retrieval.rcp.peers import Caller
from retrieval.rcp.transports.departures import DepartureWatch, Receive
from retrieval.rcp.transports.http import (
    ANYONE,
    Headers,
    HttpEndpoint,
    HttpReply,
    HttpRequest,
    Identify,
    refusal,
)
from retrieval.rcp.transports.turns import LoopTurns

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Send: TypeAlias = Callable[[Message], Awaitable[None]]

ROOT = "/rcp"
ROOT_SLASH = f"{ROOT}/"


class RcpApp:
    def __init__(
        self,
        endpoint: HttpEndpoint,
        *,
        identify: Identify | None = None,
        turns: LoopTurns | None = None,
    ) -> None:
        self._endpoint = endpoint
        self._identify = identify
        self._turns = turns
        self._start = Call.start if turns is None else turns.start
        self._watch = DepartureWatch()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        path: str = scope["path"]
        if path != ROOT and not path.startswith(ROOT_SLASH):
            nothing = NotFound("there is nothing at this address")
            await _send(refusal(nothing, status=404), send)
        elif scope["method"] != "POST":
            await _send(refusal(InvalidRequest("use POST"), status=405), send)
        else:
            try:
                await self._post(scope, path[len(ROOT_SLASH) :] or None, receive, send)
            except RcpError as error:  # refused before anything was sent
                await _send(refusal(error), send)

    async def _post(self, scope: Scope, method: str | None, receive: Receive, send: Send) -> None:
        headers = _Headers(scope)
        if headers.are_foreign:
            raise Unauthorized("pages of other origins may not ask", forbidden=True)
        caller = ANYONE if self._identify is None else await self._caller(scope)
        body = await self._read(headers.length, receive)
        if body is None:
            return
        request = HttpRequest(body, method, headers.accept, headers.session)
        exchange = self._endpoint.open(request, caller)
        try:
            turn = exchange.start(self._start)
            if turn is not None:
                await turn
            if not exchange.answer.finished:
                self._watch.add(exchange, receive)
                if exchange.channel is None:
                    await exchange.answer.wait_async()
            await _send(self._endpoint.reply(exchange), send)
            if self._turns is not None:
                self._turns.answered()
        finally:
            self._watch.remove(exchange)
            exchange.abort()

    async def _caller(self, scope: Scope) -> Caller:
        assert self._identify is not None
        headers: dict[str, str] = {}
        for name, value in scope["headers"]:
            key, text = name.decode("latin-1"), value.decode("latin-1")
            headers[key] = f"{headers[key]}, {text}" if key in headers else text
        try:
            found = self._identify(headers)
            return await found if inspect.isawaitable(found) else found
        except Exception as error:
            raise error_of(error, where="identify") from error

    async def _read(self, declared: int, receive: Receive) -> bytes | None:
        """The body, or None where the client left. Raises PayloadTooLarge."""
        limit = self._endpoint.max_bytes
        parts: list[bytes] = []
        size = 0
        while max(declared, size) <= limit:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            if not message.get("more_body") and size <= limit:
                return parts[0] if len(parts) == 1 else b"".join(parts)
        raise PayloadTooLarge(f"a body may have {limit} bytes")


class _Headers:
    """The few that matter, in one pass; their names come in lower case."""

    __slots__ = ("accept", "host", "length", "origin", "session")

    def __init__(self, scope: Scope) -> None:
        self.accept = self.origin = self.host = ""
        self.session: str | None = None
        self.length = 0
        for name, value in scope["headers"]:
            if name == b"accept":  # several count as one list
                text = value.decode("latin-1")
                self.accept = f"{self.accept},{text}" if self.accept else text
            elif name == b"content-length" and value.isdigit():
                self.length = int(value[:20])
            elif name == b"host":
                self.host = value.decode("latin-1")
            elif name == b"origin":
                self.origin = value.decode("latin-1")
            elif name == b"rcp-session":
                self.session = value.decode("latin-1")

    @property
    def are_foreign(self) -> bool:
        """Whether a browser asks on behalf of a page that is not this server's own."""
        return self.origin != "" and self.origin.partition("://")[2] != self.host


@lru_cache(maxsize=64)
def _encoded(headers: Headers) -> tuple[tuple[bytes, bytes], ...]:
    return tuple((name.lower().encode(), value.encode()) for name, value in headers)


async def _send(reply: HttpReply, send: Send) -> None:
    headers = list(_encoded(reply.headers))
    if reply.status == 405:
        headers.append((b"allow", b"POST"))
    if reply.frames is None and reply.status != 204:
        headers.append((b"content-length", str(len(reply.body)).encode()))
    await send({"type": "http.response.start", "status": reply.status, "headers": headers})
    if reply.frames is not None:
        async with aclosing(reply.frames) as frames:
            async for frame in frames:
                await send({"type": "http.response.body", "body": frame, "more_body": True})
    await send({"type": "http.response.body", "body": reply.body})
