"""Chat models for benchmarks; servers load them by dotted path."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from chats.generation.base import Finished, Piece, Prompt, Token


class InstantModel:
    """As many tokens as the question's first word says, at once.

    `yielding` gives others a turn after each.
    """

    identity = "instant"

    def __init__(self, *, yielding: bool = False) -> None:
        self.yielding = yielding

    async def stream(self, prompt: Prompt) -> AsyncGenerator[Piece, None]:
        for _ in range(int(prompt.question.split()[0])):
            yield Token(text=" token")
            if self.yielding:
                await asyncio.sleep(0)
        yield Finished()


class PacedModel:
    """So many tokens, so many a second."""

    identity = "paced"

    def __init__(self, *, tokens: int, rate: float = 20.0) -> None:
        self.tokens = tokens
        self.pause = 1 / rate

    async def stream(self, prompt: Prompt) -> AsyncGenerator[Piece, None]:
        due = asyncio.get_running_loop().time()
        for number in range(self.tokens):
            due += self.pause
            await asyncio.sleep(max(0.0, due - asyncio.get_running_loop().time()))
            yield Token(text=f" {number}")
        yield Finished()
