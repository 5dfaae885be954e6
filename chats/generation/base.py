"""The seam for chat models, and the values that cross it. A leaf.

Above: prompts builds a Prompt, budget cuts it, writing consumes the stream. Beside: the
implementations.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol, runtime_checkable


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """Text that the answer may draw from. Passages of one page share its number."""

    number: int  # cite as [number]
    url: str
    title: str
    section: tuple[str, ...]
    text: str  # verbatim; blocks separated by "\n", cells of a row by "\t"
    language: str
    confidence: float  # in [0, 1]: how likely it bears on the question
    closeness: float | None = None  # cosine to the query, where the search compared meanings
    suspected: bool = False  # of giving instructions to models


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """An earlier question of this chat with its answer (maybe cut short, maybe empty)."""

    question: str
    answer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """All that a model is given. Best passage first; oldest turn first."""

    question: str  # as asked
    query: str  # what was searched for: the question, enriched when it is a follow-up
    passages: tuple[Passage, ...]
    history: tuple[Turn, ...]
    confidence: float  # of the best passage, 0.0 with none
    max_tokens: int


class StopReason(StrEnum):
    STOP = "stop"
    LENGTH = "length"  # the token limit


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    prompt_tokens: int
    completion_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    text: str  # empty: a sign of life from a model that thinks before it answers


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """Always the last piece; a stream that ends without it is a ModelError."""

    reason: StopReason = StopReason.STOP
    usage: Usage | None = None


Piece = Token | Finished


class ChatModel(Protocol):
    """Answers a prompt, token by token. One instance serves all streams of a process.

    `identity` names backend and model; it is stored with each answer.
    """

    identity: str

    def stream(self, prompt: Prompt) -> AsyncGenerator[Piece, None]:
        """Raises GenerationFailed. Waits only at awaits; when cancelled or closed it lets go of
        everything it holds (sockets too) within a second.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """Tokens of a prompt as a model would be sent it."""

    room: int  # there is, beside the answer
    likely: int  # rather too many
    least: int  # certainly too few


@runtime_checkable
class Sized(Protocol):
    """A chat model with a context window: its prompts are cut to fit."""

    def size(self, prompt: Prompt) -> Size: ...


@runtime_checkable
class Completing(Protocol):
    """A chat model that can be given messages of our own, to write something short."""

    async def complete(self, messages: list[Any], *, max_tokens: int) -> str:
        """Raises GenerationFailed; bounds are the caller's."""
        ...
