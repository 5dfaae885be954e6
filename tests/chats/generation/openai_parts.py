"""What the tests of the OpenAI-compatible model share."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from chats.generation.base import Finished, Passage, Prompt, Token, Turn
from chats.generation.errors import GenerationFailed
from chats.generation.openai_compatible import OpenAICompatibleModel
from tests.upstream import Upstream

KEY = "sk-secret-0123456789"


def model_at(server: Upstream | str, **options: Any) -> OpenAICompatibleModel:
    base_url = server if isinstance(server, str) else server.base_url
    return OpenAICompatibleModel(
        **{"base_url": base_url, "model": "scripted", "api_key": KEY, **options}
    )


def prompt(question: str = "Why?", **changes: Any) -> Prompt:
    values: dict[str, Any] = {
        "question": question,
        "query": question,
        "passages": (passage(),),
        "history": (),
        "confidence": 0.9,
        "max_tokens": 64,
    }
    return Prompt(**{**values, **changes})


def passage(text: str = "Because it is so.", number: int = 1, **changes: Any) -> Passage:
    values: dict[str, Any] = {
        "number": number,
        "url": f"https://site.example/{number}",
        "title": f"Page {number}",
        "section": ("Part", "Chapter"),
        "text": text,
        "language": "en",
        "confidence": 0.9,
    }
    return Passage(**{**values, **changes})


def turn(question: str, answer: str) -> Turn:
    return Turn(question=question, answer=answer)


@dataclass(kw_only=True)
class Heard:
    """What came out of a model's stream."""

    texts: list[str] = field(default_factory=list)  # every token, empty ones too
    finished: Finished | None = None
    failure: GenerationFailed | None = None

    @property
    def text(self) -> str:
        return "".join(self.texts)


async def hear(model: OpenAICompatibleModel, asked: Prompt | None = None) -> Heard:
    heard = Heard()
    try:
        async with aclosing(model.stream(asked or prompt())) as pieces:
            async for piece in pieces:
                assert heard.finished is None, "Finished is the last piece"
                if isinstance(piece, Token):
                    heard.texts.append(piece.text)
                else:
                    heard.finished = piece
    except GenerationFailed as error:
        heard.failure = error
    assert (heard.finished is None) != (heard.failure is None), "ends in exactly one way"
    return heard
