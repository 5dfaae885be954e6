"""Chat models behind servers that speak Chat Completions: OpenAI's and all that are like it."""

from chats.generation.openai_compatible.model import OpenAICompatibleModel

__all__ = ["OpenAICompatibleModel"]
