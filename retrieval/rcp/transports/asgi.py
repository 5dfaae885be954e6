"""The stand-alone server's ASGI application: `POST /rcp` and `POST /rcp/<method>`.

Below: transports.http. Above: transports.serve; may be mounted in any ASGI server.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import aclosing
from functools import lru_cache
from typing import Any, TypeAlias

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

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Send: TypeAlias = Callable[[Message], Awaitable[None]]

ROOT = "/rcp"
ROOT_SLASH = f"{ROOT}/"


class RcpApp:
    def __init__(self, endpoint: HttpEndpoint, *, identify: Identify | None = None) -> None:
        self._endpoint = endpoint
        self._identify = identify
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
        elif _comes_from_another_origin(scope):
            foreign = Unauthorized("pages of other origins may not ask", forbidden=True)
            await _send(refusal(foreign), send)
        else:
            try:
                await self._post(scope, path[len(ROOT_SLASH) :] or None, receive, send)
            except RcpError as error:  # refused before anything was sent
                await _send(refusal(error), send)

    async def _post(self, scope: Scope, method: str | None, receive: Receive, send: Send) -> None:
        accept, session, length = _needed_headers(scope)
        caller = ANYONE if self._identify is None else await self._caller(scope)
        body = await self._read(length, receive)
        if body is None:
            return
        request = HttpRequest(body, method, accept, session)
        exchange = self._endpoint.open(request, caller)
        exchange.start()
        self._watch.add(exchange, receive)
        try:
            if exchange.channel is None:
                await exchange.answer.wait_async()
            await _send(self._endpoint.reply(exchange), send)
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

    async def _read(self, length: int, receive: Receive) -> bytes | None:
        """The body, or None where the client left. Raises PayloadTooLarge."""
        limit = self._endpoint.max_bytes
        parts: list[bytes] = []
        while length <= limit:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            body: bytes = message.get("body", b"")
            if not message.get("more_body") and not parts and len(body) <= limit:
                return body
            parts.append(body)
            length = sum(map(len, parts))
            if not message.get("more_body") and length <= limit:
                return b"".join(parts)
        raise PayloadTooLarge(f"a body may have {limit} bytes")


def _comes_from_another_origin(scope: Scope) -> bool:
    """Whether a browser asks on behalf of a page that is not this server's own."""
    origin = host = b""
    for name, value in scope["headers"]:
        if name == b"origin":
            origin = value
        elif name == b"host":
            host = value
    return origin != b"" and origin.partition(b"://")[2] != host


def _needed_headers(scope: Scope) -> tuple[str, str | None, int]:
    """Accept (several count as one list), RCP-Session, and the declared length."""
    accept: list[str] = []
    session, length = None, 0
    for name, value in scope["headers"]:  # names come in lower case
        if name == b"accept":
            accept.append(value.decode("latin-1"))
        elif name == b"rcp-session":
            session = value.decode("latin-1")
        elif name == b"content-length" and value.isdigit():
            length = int(value[:20])
    return ",".join(accept), session, length


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
