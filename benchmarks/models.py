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
