"""Chat models and retrievers that do what a test says; live servers load them by dotted path."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Generator, Sequence

import numpy as np
from numpy.typing import NDArray

from chats.generation.base import Finished, Piece, Prompt, StopReason, Token, Usage
from retrieval.types import Fragment, Hit, Query, Retrieved, Scores, Stage

Step = str | float | Exception  # say this, wait so many seconds, raise this


STOPPED = Finished(reason=StopReason.STOP, usage=Usage(prompt_tokens=3, completion_tokens=2))


class ScriptedModel:
    """Plays a script; remembers the prompts it was given and whether it was let go of."""

    identity = "scripted"

    def __init__(
        self,
        script: Sequence[Step] = ("One ", "two."),
        *,
        finished: Finished | None = STOPPED,
    ) -> None:
        self.script = script
        self.finished = finished
        self.prompts: list[Prompt] = []
        self.closed = 0

    async def stream(self, prompt: Prompt) -> AsyncGenerator[Piece, None]:
        self.prompts.append(prompt)
        try:
            for step in self.script:
                if isinstance(step, Exception):
                    raise step
                if isinstance(step, str):
                    yield Token(text=step)
                else:
                    await asyncio.sleep(step)
            if self.finished is not None:
                yield self.finished
        finally:
            self.closed += 1


class EndlessModel:
    """One token every `delay` seconds, for ever; or none at all, with `silent`."""

    identity = "endless"

    def __init__(self, *, delay: float = 0.01, silent: bool = False, size: int = 4) -> None:
        self.delay = delay
        self.silent = silent
        self.text = "x" * size

    async def stream(self, prompt: Prompt) -> AsyncGenerator[Piece, None]:
        while True:
            await asyncio.sleep(3600 if self.silent else self.delay)
            yield Token(text=self.text)


def hit(number: int = 0, **changes: object) -> Hit:
    values: dict[str, object] = {
        "chunk_id": number,
        "page_id": number,
        "url": f"https://site.example/page-{number}",
        "title": f"Page {number}",
        "site_name": "Site",
        "favicon_url": None,
        "media_type": "text/html",
        "language": "en",
        "section": (f"Page {number}",),
        "anchor": None,
        "position": 0,
        "text": f"The text of page {number}.",
        "fragment": Fragment(start=f"The text of page {number}."),
        "score": 1.0,
        "confidence": 0.9,
        "scores": Scores(sparse=1.0),
    }
    return Hit(**{**values, **changes})  # type: ignore[arg-type]


def found(*hits: Hit) -> Retrieved:
    confidence = max((one.confidence for one in hits), default=0.0)
    return Retrieved(hits=hits, confidence=confidence, candidates=len(hits), latency_ms=1.0)


def retriever(
    result: Retrieved, *, before: Callable[[Query], None] = lambda query: None
) -> Callable[[Query], Generator[Stage, None, Retrieved]]:
    """A pipeline that gives `result`; `before` sees the query, in the retrieval thread."""

    def retrieve(query: Query) -> Generator[Stage, None, Retrieved]:
        before(query)
        yield Stage(name="recall", progress=0.5, message="")
        return result

    return retrieve


class SlowEmbedder:
    """Makes every search take a while."""

    identity = "slow"
    dimension = 2

    def __init__(self, *, seconds: float = 2.0) -> None:
        self.seconds = seconds

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.tile(np.array([1, 0], np.float32), (len(texts), 1))

    def embed_query(self, text: str) -> NDArray[np.float32]:
        time.sleep(self.seconds)
        return np.array([1, 0], np.float32)

    def weight(self, language: str) -> float:
        return 0.5
