"""RCP over HTTP without a web framework: one request in, status, headers and body or frames out.

Below: dispatcher, channel, accept, sse. Above: transports.asgi, and the site's own endpoint, which
authenticates and then hands each request over with its `Caller`.
"""

from __future__ import annotations

import math
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Any, NamedTuple, Self, TypeAlias

from retrieval.rcp.calls import Call
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
from retrieval.rcp.peers import Caller, Peer
from retrieval.rcp.runtime import Runtime
from retrieval.rcp.session import Session
from retrieval.rcp.transports import sse
from retrieval.rcp.transports.accept import wants_event_stream
from retrieval.rcp.transports.channel import Answer, Channel

Headers: TypeAlias = tuple[tuple[str, str], ...]
Start: TypeAlias = Callable[[Call], Awaitable[None] | None]
Identify: TypeAlias = Callable[[Mapping[str, str]], Caller | Awaitable[Caller]]

JSON_HEADERS: Headers = (("Content-Type", "application/json"), ("Cache-Control", "no-store"))
SSE_HEADERS: Headers = (
    ("Content-Type", "text/event-stream; charset=utf-8"),
    ("Cache-Control", "no-cache, no-transform"),
    ("Content-Encoding", "identity"),
    ("X-Accel-Buffering", "no"),
)
ANYONE = Caller(scope=None)


class HttpRequest(NamedTuple):
    body: bytes
    method: str | None = None  # RCP method that the path names, if it names one
    accept: str = ""
    session: str | None = None  # `RCP-Session` header


class HttpReply(NamedTuple):
    """A buffered body, or `frames` of an event stream to send each at once."""

    status: int
    headers: Headers = ()
    body: bytes = b""
    frames: Frames | None = None


class Exchange:
    """One HTTP request under way: an answer to come, or a channel that streams."""

    def __init__(self, answer: Answer, calls: Sequence[Call]) -> None:
        self.answer = answer
        self.channel: Channel | None = None  # where frames come before the answer
        self._calls = calls
        # Refused at the door, or with nothing to say, even a stream's request gets a plain body.
        if isinstance(answer, Channel) and (
            calls or (answer.reply and status_of(answer.reply)) == 200
        ):
            self.channel = answer

    def start(self, start: Start = Call.start) -> Awaitable[None] | None:
        """Have the calls run; `start` is how those of a buffered answer are.

        Returns what to await before looking for the answer, where there is anything.
        """
        turn = None
        for call in self._calls:
            turn = (start if self.channel is None else Call.start)(call) or turn
        return turn

    def abort(self) -> None:
        """The caller is gone: stop what runs. No effect on what is finished."""
        if not self.answer.finished:
            for call in self._calls:
                call.abort(Cancelled("the caller is gone"))


class Frames:
    """An event stream: iterate it, and close it whatever happens; closing cancels what runs."""

    def __init__(self, exchange: Exchange, channel: Channel, silence: float) -> None:
        self._exchange = exchange
        self._source = _encode(channel, silence)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        return await anext(self._source)

    async def aclose(self) -> None:
        self._exchange.abort()
        await self._source.aclose()


async def _encode(channel: Channel, silence: float) -> AsyncGenerator[bytes, None]:
    async with aclosing(channel.frames(silence=silence)) as frames:
        async for text in frames:
            yield sse.KEEP_ALIVE if text is None else sse.encode(text)
    if channel.reply is not None:
        yield sse.encode(channel.reply.text)


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
        # One for all callers; once one of them shuts it down, it stays so.
        self._session = Session(unique_ids=False, public_id=new_session_id())
        self._plain_peer = Peer(session=self._session, caller=ANYONE)
        self.max_bytes = runtime.limits.message_bytes

    async def respond(self, request: HttpRequest, caller: Caller = ANYONE) -> HttpReply:
        """Answer one request; a cancelled wait cancels its handlers."""
        exchange = self.open(request, caller)
        exchange.start()
        if exchange.channel is None:
            try:
                await exchange.answer.wait_async()
            finally:
                exchange.abort()
        return self.reply(exchange)

    def respond_blocking(self, request: HttpRequest, caller: Caller = ANYONE) -> HttpReply:
        """`respond` for a thread; `frames`, where there are any, are still read asynchronously."""
        exchange = self.open(request, caller)
        exchange.start()
        if exchange.channel is None:
            exchange.answer.wait()
        return self.reply(exchange)

    def open(self, request: HttpRequest, caller: Caller = ANYONE) -> Exchange:
        """Admit what the request asks for; `start` it to have it answered."""
        self._runtime.start()
        streams = "streaming" in self._advertised and wants_event_stream(request.accept)
        channel = Channel(self._runtime.limits.frames) if streams else None
        answer = channel or Answer()
        calls = self._receive(request, self._peer(request, caller, channel), answer)
        return Exchange(answer, calls)

    def _peer(self, request: HttpRequest, caller: Caller, channel: Channel | None) -> Peer:
        if caller is ANYONE and not (self._stateless or request.session or channel):
            return self._plain_peer
        session = self._session
        if self._stateless:
            session = Session(stateless=True, unique_ids=False)
        own = Caller(scope=self._scope(request, caller), identity=caller.identity)
        return Peer(session=session, caller=own, outlet=channel)

    def reply(self, exchange: Exchange) -> HttpReply:
        """What to send: a stream to iterate, or the body of a finished answer."""
        channel = exchange.channel
        if channel is None:
            return reply_of(exchange.answer.reply)
        frames = Frames(exchange, channel, self._runtime.limits.keepalive_seconds)
        return HttpReply(status=200, headers=SSE_HEADERS, frames=frames)

    def _receive(self, request: HttpRequest, peer: Peer, answer: Answer) -> list[Call]:
        try:
            message = self._dispatcher.decode(request.body)
        except RcpError as error:
            answer.finish(failure(None, error))
            return []
        if request.method is not None and not _agrees(message, request.method):
            mismatch = InvalidRequest("the path and the body name different methods")
            silent = isinstance(message, dict) and "id" not in message
            answer.finish(None if silent else failure(id_of(message), mismatch))
            return []
        return self._dispatcher.receive_decoded(message, peer, answer.finish)

    def _scope(self, request: HttpRequest, caller: Caller) -> str | None:
        """Ids are one caller's own: told apart by credentials, by session, or not at all."""
        if request.session:
            return f"{caller.scope or ''}\n{request.session}"
        return caller.scope or None


def refusal(error: RcpError, *, status: int | None = None) -> HttpReply:
    """The reply to a request that is turned away before its body is read."""
    reply = reply_of(failure(None, error))
    return reply if status is None else reply._replace(status=status)


def reply_of(reply: Reply | None) -> HttpReply:
    if reply is None:
        return HttpReply(status=204)
    if reply.error is None:
        return HttpReply(status=200, headers=JSON_HEADERS, body=reply.text)
    headers = list(JSON_HEADERS)
    if isinstance(reply.error, Unauthorized) and not reply.error.forbidden:
        headers.append(("WWW-Authenticate", "Bearer"))
    if "retryAfterMs" in reply.error.data:
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
