"""One streamed reply → pieces of the answer, ended by Finished or by the failure it amounts to.

Below: sse, chunks, reasoning, failures. Above: model. Whatever was said before a failure is passed
on first.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import cast

import httpx

from chats.generation.base import Finished, Piece, StopReason, Token, Usage
from chats.generation.errors import (
    GenerationFailed,
    GenerationTimeout,
    ModelError,
    UpstreamUnavailable,
)
from chats.generation.openai_compatible import failures
from chats.generation.openai_compatible.chunks import Chunk, chunk_from
from chats.generation.openai_compatible.reasoning import ReasoningFilter
from chats.generation.openai_compatible.sse import Event, EventDecoder

ANSWER_MAX_CHARS = 2_000_000
USAGE_SECONDS = 2.0  # that a finished reply may go on, to say what it used
CLOSING_SECONDS = 0.1  # and to end, so that its connection can be used again
_DONE = "[DONE]"
_ENDINGS = {
    **dict.fromkeys(
        ("stop", "eos", "eos_token", "end_turn", "stop_sequence", "complete"), StopReason.STOP
    ),
    **dict.fromkeys(("length", "max_tokens", "model_length"), StopReason.LENGTH),
}
_FAILED_ENDINGS = {
    **dict.fromkeys(("content_filter", "safety"), failures.FILTERED),
    **dict.fromkeys(("tool_calls", "function_call"), failures.TOOLS),
}


class Reply:
    """What a reply has said so far."""

    def __init__(self, *, thinks_at_once: bool) -> None:
        self.finish = ""
        self.usage: Usage | None = None
        self._filter = ReasoningFilter(thinks_at_once=thinks_at_once)
        self._half = ""  # of a surrogate pair that two chunks share
        self._length = 0

    def take(self, chunk: Chunk) -> Token | None:
        """The token to pass on: empty while the model thinks, as a sign of life."""
        self.usage = chunk.usage or self.usage
        self.finish = self.finish or chunk.finish.lower()
        if not chunk.text:
            return Token(text="") if chunk.thinks else None
        text = self._filter.feed(self._whole(chunk.text))
        return self._token(text) if text or self._filter.thinks else None

    def rest(self) -> Token | None:
        text = self._filter.rest()
        return self._token(text) if text else None

    def finished(self) -> Finished:
        """Raises ModelError where the reply is no answer."""
        reason = _ENDINGS.get(self.finish)
        if reason is None:
            raise _bad_ending(self.finish, began=bool(self._length))
        if reason is StopReason.STOP and not self._length:
            raise ModelError
        return Finished(reason=reason, usage=self.usage)

    def _token(self, text: str) -> Token:
        self._length += len(text)
        if self._length > ANSWER_MAX_CHARS:
            raise ModelError
        return Token(text=text)

    def _whole(self, text: str) -> str:
        text = self._half + text
        cut = "\ud800" <= text[-1] <= "\udbff"
        self._half, text = (text[-1], text[:-1]) if cut else ("", text)
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


async def pieces(response: httpx.Response, *, thinks_at_once: bool) -> AsyncGenerator[Piece, None]:
    """Raises GenerationFailed. The response is closed by whoever opened it."""
    reply = Reply(thinks_at_once=thinks_at_once)
    failure: GenerationFailed | None = None
    until: float | None = None  # that a finished reply may go on
    clock = asyncio.get_running_loop().time
    async with aclosing(_events(response)) as events:
        while True:
            if reply.finish and until is None:
                until = clock() + USAGE_SECONDS
            try:
                event = await _next(events, until)
                if event is None or event.data.startswith(_DONE):
                    break
                token = reply.take(chunk_from(event))
            except (GenerationFailed, httpx.HTTPError) as error:
                failure = _failure_of(error)
                break
            if token is not None:
                yield token
        if failure is None and reply.finish:
            await _next(events, clock() + CLOSING_SECONDS)
    if (token := reply.rest()) is not None:
        yield token
    if failure is not None and not reply.finish:
        raise failure
    yield reply.finished()


async def _events(response: httpx.Response) -> AsyncGenerator[Event, None]:
    decoder = EventDecoder()
    async with aclosing(cast(AsyncGenerator[bytes, None], response.aiter_bytes())) as parts:
        async for part in parts:
            for event in decoder.feed(part):
                yield event
    for event in decoder.end():
        yield event


async def _next(events: AsyncGenerator[Event, None], until: float | None) -> Event | None:
    """The next event; None at the end, and where a finished reply has said no more until then."""
    if until is None:
        return await anext(events, None)
    try:
        async with asyncio.timeout_at(until):
            return await anext(events, None)
    except (TimeoutError, GenerationFailed, httpx.HTTPError):
        return None


def _failure_of(error: GenerationFailed | httpx.HTTPError) -> GenerationFailed:
    if isinstance(error, GenerationFailed):
        return error
    if isinstance(error, httpx.TimeoutException):
        return GenerationTimeout(failures.SILENT)
    return ModelError(failures.BROKEN)


def _bad_ending(finish: str, *, began: bool) -> GenerationFailed:
    if not finish:
        return ModelError(failures.BROKEN if began else None)
    if finish == "insufficient_system_resource":
        return UpstreamUnavailable(failures.BUSY)
    return ModelError(_FAILED_ENDINGS.get(finish))
