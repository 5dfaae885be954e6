"""The stand-alone server's ASGI application: `POST /rcp` and `POST /rcp/<method>`.

Below: transports.http. Above: transports.serve; may be mounted in any ASGI server.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import aclosing
from typing import Any, TypeAlias

from retrieval.rcp.errors import InvalidRequest, NotFound, PayloadTooLarge, RcpError, error_of
from retrieval.rcp.transports.http import (
    ANYONE,
    SESSION_HEADER,
    HttpEndpoint,
    HttpReply,
    HttpRequest,
    Identify,
    refusal,
    reply_of,
)

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]

ROOT = "/rcp"


class RcpApp:
    def __init__(self, endpoint: HttpEndpoint, *, identify: Identify | None = None) -> None:
        self._endpoint = endpoint
        self._identify = identify

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        try:
            await self._serve(scope, receive, send)
        except RcpError as error:
            await _send(refusal(error), send)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        path: str = scope["path"]
        if path != ROOT and not path.startswith(f"{ROOT}/"):
            reply = refusal(NotFound("there is nothing at this address"), status=404)
        elif scope["method"] != "POST":
            reply = refusal(InvalidRequest("use POST"), status=405)
        else:
            await self._post(scope, path[len(ROOT) + 1 :] or None, receive, send)
            return
        await _send(reply, send)

    async def _post(self, scope: Scope, method: str | None, receive: Receive, send: Send) -> None:
        headers = _headers(scope)
        caller = ANYONE
        if self._identify is not None:
            try:
                found = self._identify(headers)
                caller = await found if inspect.isawaitable(found) else found
            except Exception as error:
                raise error_of(error, where="identify") from error
        body = await self._read(headers, receive)
        if body is None:
            return
        request = HttpRequest(
            body=body,
            method=method,
            accept=headers.get("accept", ""),
            session=headers.get(SESSION_HEADER),
        )
        exchange = self._endpoint.open(request, caller)
        # From here on the next message can only say that the client left.
        watch = asyncio.ensure_future(receive())
        watch.add_done_callback(lambda _: exchange.abort())
        try:
            if exchange.streams:
                await _send(self._endpoint.stream(exchange), send)
            else:
                async for _ in exchange.channel.frames():
                    pass
                await _send(reply_of(exchange.channel.reply), send)
        finally:
            watch.cancel()

    async def _read(self, headers: dict[str, str], receive: Receive) -> bytes | None:
        """The body, or None where the client left. Raises PayloadTooLarge."""
        limit = self._endpoint.max_bytes
        declared = headers.get("content-length", "")
        if declared.isdecimal() and int(declared[:20]) > limit:
            raise PayloadTooLarge(f"a body may have {limit} bytes")
        parts: list[bytes] = []
        size = 0
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            part = message.get("body", b"")
            size += len(part)
            if size > limit:
                raise PayloadTooLarge(f"a body may have {limit} bytes")
            parts.append(part)
            if not message.get("more_body"):
                return b"".join(parts)


def _headers(scope: Scope) -> dict[str, str]:
    headers: dict[str, str] = {}
    for name, value in scope["headers"]:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        headers[key] = f"{headers[key]}, {text}" if key in headers else text
    return headers


async def _send(reply: HttpReply, send: Send) -> None:
    headers = [(name.lower().encode(), value.encode()) for name, value in reply.headers]
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
