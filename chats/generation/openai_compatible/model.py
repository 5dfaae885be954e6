"""OpenAICompatibleModel: a ChatModel behind any server that streams Chat Completions.

Below: messages, opening, reading, readiness. Above: answering, through FASTRAG_CHAT_MODEL.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from openai.types.chat import ChatCompletionMessageParam

from chats.generation.base import Piece, Prompt, Size, Token
from chats.generation.errors import ContextTooLong, ModelError
from chats.generation.openai_compatible.messages import (
    least_tokens,
    likely_tokens,
    messages_from,
)
from chats.generation.openai_compatible.opening import Opening
from chats.generation.openai_compatible.options import options_from
from chats.generation.openai_compatible.readiness import Readiness
from chats.generation.openai_compatible.reading import pieces

_IDENTITY_CHARS = 200  # that are stored


class OpenAICompatibleModel:
    def __init__(self, **options: Any) -> None:
        """Options: see options.Options. Raises ImproperlyConfigured, or TypeError for others."""
        self.options = options_from(options)
        self.identity = f"openai-compatible:{self.options.model}"[:_IDENTITY_CHARS]
        self.context_window = self.options.context_window
        self._opening = Opening(self.options)
        self._readiness = Readiness(self.options)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.options.model}>"

    async def stream(self, prompt: Prompt) -> AsyncGenerator[Piece, None]:
        limit = self._limit(prompt)
        async with aclosing(self.converse(messages_from(prompt), max_tokens=limit)) as said:
            async for piece in said:
                yield piece

    def size(self, prompt: Prompt) -> Size:
        """Takes processor time where the prompt is long: call it in a thread."""
        messages = messages_from(prompt)
        return Size(
            room=self.context_window - self._limit(prompt),
            likely=likely_tokens(messages),
            least=least_tokens(messages),
        )

    async def converse(
        self, messages: list[ChatCompletionMessageParam], *, max_tokens: int
    ) -> AsyncGenerator[Piece, None]:
        """The same for messages of the caller's. Raises GenerationFailed."""
        begun = False
        try:
            async with (
                self._opening.reply(messages, max_tokens=max_tokens) as response,
                aclosing(pieces(response, thinks_at_once=self.options.thinks_at_once)) as said,
            ):
                async for piece in said:
                    begun = True
                    yield piece
        except ModelError:
            # Some servers answer a prompt that is too long with 200 and nothing at all.
            room = self.context_window - max_tokens
            if not begun and least_tokens(messages) > room:
                raise ContextTooLong from None
            raise

    async def complete(self, messages: list[ChatCompletionMessageParam], *, max_tokens: int) -> str:
        """A whole short text, such as a title. Raises GenerationFailed; bounds are the caller's."""
        async with aclosing(self.converse(messages, max_tokens=max_tokens)) as said:
            return "".join([piece.text async for piece in said if isinstance(piece, Token)])

    async def ping(self) -> None:
        """Raises UpstreamUnavailable that names the setting to look at."""
        await self._readiness.ping()

    def check(self) -> None:
        """The same from a thread without an event loop, remembered for some seconds."""
        self._readiness.check()

    async def close(self) -> None:
        """Let go of kept connections before the event loop ends; it may be used again."""
        await self._opening.close()

    def _limit(self, prompt: Prompt) -> int:
        return self.options.max_tokens or prompt.max_tokens
