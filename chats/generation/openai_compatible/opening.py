"""From messages to an open reply: the request, what servers refuse of it, and trying again.

Below: clients, failures. Above: model. Nothing is tried again once the first byte has come.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

import httpx
import openai
from openai import AsyncOpenAI, AsyncStream
from openai.types.chat import ChatCompletionChunk, ChatCompletionMessageParam

from chats.generation.errors import (
    ContextTooLong,
    GenerationFailed,
    GenerationTimeout,
    ModelError,
    UpstreamUnavailable,
)
from chats.generation.openai_compatible import failures
from chats.generation.openai_compatible.clients import Clients
from chats.generation.openai_compatible.options import SETTINGS, Options

PAUSE_SECONDS = 0.5  # before another try, unless the server names one
LONGEST_PAUSE_SECONDS = 3.0  # a server that asks for more is not asked again
_TRIED_AGAIN = frozenset({409, 425, 429, 500, 502, 503, 529})
_SHOWN = 1_000  # characters of a server's words in the debug log

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """What a server was found to understand."""

    usage: bool
    limit: str = "max_tokens"


class Opening:
    def __init__(self, options: Options) -> None:
        self._options = options
        self._clients = Clients(options)
        self._dialect = Dialect(usage=options.ask_usage)

    async def close(self) -> None:
        await self._clients.close()

    @asynccontextmanager
    async def reply(
        self, messages: list[ChatCompletionMessageParam], *, max_tokens: int
    ) -> AsyncIterator[httpx.Response]:
        """An open reply, closed at the end whatever happens. Raises GenerationFailed."""
        client = await self._clients.get()
        stream = await self._open(client, messages, max_tokens)
        try:
            yield stream.response
        finally:
            with suppress(httpx.HTTPError):
                await stream.close()

    async def _open(
        self, client: AsyncOpenAI, messages: list[ChatCompletionMessageParam], max_tokens: int
    ) -> AsyncStream[ChatCompletionChunk]:
        dialect = self._dialect
        retries = self._options.retries
        while True:
            try:
                stream = await self._ask(client, messages, max_tokens, dialect)
            except openai.APIError as error:
                simpler = _simpler(dialect, error)
                pause = _pause(error)
                if simpler is not None:
                    dialect = simpler
                elif pause is not None and retries > 0:
                    retries -= 1
                    await asyncio.sleep(pause)
                else:
                    raise self._failure(error) from None
            else:
                self._dialect = dialect
                return stream

    async def _ask(
        self,
        client: AsyncOpenAI,
        messages: list[ChatCompletionMessageParam],
        max_tokens: int,
        dialect: Dialect,
    ) -> AsyncStream[ChatCompletionChunk]:
        options = self._options
        parameters: dict[str, Any] = {dialect.limit: max_tokens}
        if options.temperature is not None:
            parameters["temperature"] = options.temperature
        if dialect.usage:
            parameters["stream_options"] = {"include_usage": True}
        stream: AsyncStream[ChatCompletionChunk] = await client.chat.completions.create(
            model=options.model,
            messages=messages,
            stream=True,
            extra_body=dict(options.extra_body) or None,
            extra_headers=key_headers(options),
            **parameters,
        )
        return stream

    def _failure(self, error: openai.APIError) -> GenerationFailed:
        failed = failure_of(error)
        status = error.status_code if isinstance(error, openai.APIStatusError) else None
        logger.warning(
            "chat model %s: %s (%s)%s",
            self._options.model,
            failed.code,
            f"HTTP {status}" if status else "no connection",
            _hint(status, failed),
        )
        if status:
            logger.debug("the server said: %.*s", _SHOWN, failures.words_of(error.body))
        return failed


def key_headers(options: Options) -> dict[str, Any]:
    """Keeps the package from sending a key where there is none, or one that headers replace."""
    has_own = any(name.lower() == "authorization" for name in options.extra_headers)
    return {} if options.api_key or has_own else {"Authorization": openai.Omit()}


def failure_of(error: openai.APIError) -> GenerationFailed:
    if isinstance(error, openai.APIStatusError):
        return failures.failure_of_status(error.status_code, error.body)
    if isinstance(error.__cause__, httpx.ReadTimeout):
        return GenerationTimeout(failures.LATE)
    if isinstance(error, openai.APIConnectionError):
        return UpstreamUnavailable(failures.UNREACHABLE)
    return ModelError()


def _simpler(dialect: Dialect, error: openai.APIError) -> Dialect | None:
    """What to try where the server may have refused a parameter rather than the question."""
    if not isinstance(error, openai.BadRequestError | openai.UnprocessableEntityError):
        return None
    if isinstance(failure_of(error), ContextTooLong):
        return None
    words = failures.words_of(error.body)
    if dialect.limit == "max_tokens" and "max_completion_tokens" in words:
        return replace(dialect, limit="max_completion_tokens")
    return replace(dialect, usage=False) if dialect.usage else None


def _pause(error: openai.APIError) -> float | None:
    """Seconds to wait before another try; None where there is to be none."""
    if isinstance(error, openai.APITimeoutError):
        return None
    if isinstance(error, openai.APIConnectionError):
        # A kept connection that the server has just closed: a new one may do.
        gone = isinstance(error.__cause__, httpx.RemoteProtocolError | httpx.ReadError)
        return 0.0 if gone else PAUSE_SECONDS
    if not isinstance(error, openai.APIStatusError) or error.status_code not in _TRIED_AGAIN:
        return None
    asked = error.response.headers.get("retry-after", "")
    if not asked:
        return PAUSE_SECONDS
    try:
        seconds = float(asked)
    except ValueError:  # a date
        return None
    return seconds if seconds <= LONGEST_PAUSE_SECONDS else None


def _hint(status: int | None, failed: GenerationFailed) -> str:
    """The settings to look at."""
    if isinstance(failed, ContextTooLong):
        options = ["context_window"]
    elif status in {401, 403}:
        options = ["api_key"]
    elif status == 404:
        options = ["base_url", "model"]
    elif status is None or 300 <= status < 400:
        options = ["base_url"]
    else:
        return ""
    return "; see " + " and ".join(f"FASTRAG_{SETTINGS[option].upper()}" for option in options)
