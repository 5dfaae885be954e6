"""Quotes."""

from collections.abc import AsyncGenerator

from chats.generation.base import Finished, Piece, Prompt, Token


class ExtractiveModel:
    identity = "extractive"

    async def stream(self, prompt: Prompt) -> AsyncGenerator[Piece, None]:
        yield Token(text="x")
        yield Finished()
