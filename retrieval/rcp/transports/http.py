"""RCP over HTTP without a web framework: one request in, status, headers and body or frames out.

Below: dispatcher, channel, accept, sse. Above: transports.asgi, and the site's own endpoint, which
authenticates and then hands each request over with its `Caller`.
"""

from __future__ import annotations

import math
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any, Self, TypeAlias

from retrieval.rcp.calls import Call, Peer, Runtime
from retrieval.rcp.capabilities import Advertised
from retrieval.rcp.codes import Errc
from retrieval.rcp.dispatcher import Dispatcher
from retrieval.rcp.errors import (
    Cancelled,
    InvalidRequest,
    NotJsonRpc,
    ParseError,
    RcpError,
    Unauthorized,
)
from retrieval.rcp.lifecycle import new_session_id
from retrieval.rcp.messages import Reply, failure, id_of
from retrieval.rcp.session import Caller, Session
from retrieval.rcp.transports import sse
from retrieval.rcp.transports.accept import wants_event_stream
from retrieval.rcp.transports.channel import Channel

Headers: TypeAlias = tuple[tuple[str, str], ...]
Identify: TypeAlias = Callable[[Mapping[str, str]], Caller | Awaitable[Caller]]

SESSION_HEADER = "rcp-session"
JSON_HEADERS: Headers = (("Content-Type", "application/json"), ("Cache-Control", "no-store"))
SSE_HEADERS: Headers = (
    ("Content-Type", "text/event-stream; charset=utf-8"),
    ("Cache-Control", "no-cache, no-transform"),
    ("Content-Encoding", "identity"),
    ("X-Accel-Buffering", "no"),
)
ANYONE = Caller(scope=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRequest:
    body: bytes
    method: str | None = None  # RCP method that the path names, if it names one
    accept: str = ""
    session: str | None = None  # `RCP-Session` header


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpReply:
    """A buffered body, or `frames` of an event stream to send each at once."""

    status: int
    headers: Headers = ()
    body: bytes = b""
    frames: Frames | None = None


class Frames:
    """An event stream: iterate it, and close it whatever happens; closing cancels what runs."""

    def __init__(self, exchange: Exchange, silence: float) -> None:
        self._exchange = exchange
        self._source = self._encode(silence)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        return await anext(self._source)

    async def aclose(self) -> None:
        self._exchange.abort()
        await self._source.aclose()

    async def _encode(self, silence: float) -> AsyncGenerator[bytes, None]:
        async with aclosing(self._exchange.channel.frames(silence=silence)) as frames:
            async for text in frames:
                yield sse.KEEP_ALIVE if text is None else sse.encode(text)
        reply = self._exchange.channel.reply
        if reply is not None:
            yield sse.encode(reply.text)


class Exchange:
    """One HTTP request under way."""

    def __init__(self, channel: Channel, calls: Sequence[Call], *, streams: bool) -> None:
        self.channel = channel
        self.streams = streams
        self._calls = calls

    def abort(self) -> None:
        """The caller is gone: stop what runs. No effect on what is finished."""
        for call in self._calls:
            call.abort(Cancelled("the caller is gone"))


class HttpEndpoint:
    def __init__(
        self,
        dispatcher: Dispatcher,
        runtime: Runtime,
        advertised: Advertised,
        *,
        stateless: bool,
    ) -> None:
        self._dispatcher = dispatcher
        self._runtime = runtime
        self._advertised = advertised
        self._stateless = stateless
        self._session = Session(unique_ids=False, public_id=new_session_id())
        self.max_bytes = runtime.limits.message_bytes

    async def respond(self, request: HttpRequest, caller: Caller = ANYONE) -> HttpReply:
        """Answer one request; a cancelled wait cancels its handlers."""
        exchange = self.open(request, caller)
        if exchange.streams:
            return self.stream(exchange)
        try:
            async for _ in exchange.channel.frames():
                pass
        finally:
            exchange.abort()
        return reply_of(exchange.channel.reply)

    def respond_blocking(self, request: HttpRequest, caller: Caller = ANYONE) -> HttpReply:
        """`respond` for a thread; `frames`, where there are any, are still read asynchronously."""
        exchange = self.open(request, caller)
        return self.stream(exchange) if exchange.streams else reply_of(exchange.channel.wait())

    def open(self, request: HttpRequest, caller: Caller = ANYONE) -> Exchange:
        """Start what the request asks for, and return at once."""
        self._runtime.start()
        streams = "streaming" in self._advertised and wants_event_stream(request.accept)
        channel = Channel(self._runtime.limits.frames)
        peer = Peer(
            session=self._session_for_one() if self._stateless else self._session,
            caller=replace(caller, scope=self._scope(request, caller)),
            outlet=channel if streams else None,
        )
        calls = self._receive(request, peer, channel)
        for call in calls:
            call.start()
        if peer.session.closed:
            self._session = Session(unique_ids=False, public_id=new_session_id())
        if channel.finished and (channel.reply is None or status_of(channel.reply) != 200):
            streams = False  # refused at the door, or nothing to say
        return Exchange(channel, calls, streams=streams)

    def stream(self, exchange: Exchange) -> HttpReply:
        silence = self._runtime.limits.keepalive_seconds
        return HttpReply(status=200, headers=SSE_HEADERS, frames=Frames(exchange, silence))

    def _receive(self, request: HttpRequest, peer: Peer, channel: Channel) -> list[Call]:
        try:
            message = self._dispatcher.decode(request.body)
        except RcpError as error:
            channel.finish(failure(None, error))
            return []
        if request.method is not None and not _agrees(message, request.method):
            mismatch = InvalidRequest("the path and the body name different methods")
            answer = "id" in message if isinstance(message, dict) else True
            channel.finish(failure(id_of(message), mismatch) if answer else None)
            return []
        return self._dispatcher.receive_decoded(message, peer, channel.finish)

    def _scope(self, request: HttpRequest, caller: Caller) -> str | None:
        """Ids are one caller's own: told apart by credentials, by session, or not at all."""
        parts = [part for part in (caller.scope, request.session) if part]
        if parts:
            return "\n".join(parts)
        return None if self._stateless else ""

    @staticmethod
    def _session_for_one() -> Session:
        return Session(stateless=True, unique_ids=False, public_id=new_session_id())


def refusal(error: RcpError, *, status: int | None = None) -> HttpReply:
    """The reply to a request that is turned away before its body is read."""
    reply = reply_of(failure(None, error))
    return reply if status is None else replace(reply, status=status)


def reply_of(reply: Reply | None) -> HttpReply:
    if reply is None:
        return HttpReply(status=204)
    headers = list(JSON_HEADERS)
    if isinstance(reply.error, Unauthorized) and not reply.error.forbidden:
        headers.append(("WWW-Authenticate", "Bearer"))
    if reply.error is not None and "retryAfterMs" in reply.error.data:
        seconds = max(1, math.ceil(reply.error.data["retryAfterMs"] / 1_000))
        headers.append(("Retry-After", str(seconds)))
    return HttpReply(status=status_of(reply), headers=tuple(headers), body=reply.text)


def status_of(reply: Reply) -> int:
    """200 for what JSON-RPC answers itself; HTTP's own word where it has one."""
    match reply.error:
        case None:
            return 200
        case ParseError() | NotJsonRpc():
            return 400
        case Unauthorized(forbidden=forbidden):
            return 403 if forbidden else 401
        case RcpError(code=code):
            return _STATUS.get(code, 200)


_STATUS: Mapping[int, int] = {
    Errc.UNAUTHORIZED: 401,
    Errc.PAYLOAD_TOO_LARGE: 413,
    Errc.RATE_LIMITED: 429,
    Errc.BACKEND_UNAVAILABLE: 503,
}


def _agrees(message: Any, method: str) -> bool:
    """Whether every message with a method names this one."""
    members = message if isinstance(message, list) else [message]
    named = [member["method"] for member in members if _has_method(member)]
    return all(name == method for name in named)


def _has_method(message: Any) -> bool:
    return isinstance(message, dict) and isinstance(message.get("method"), str)
