"""What the model is given: the question, numbered passages, the latest turns. Pure.

Below: generation.base, sources. Above: answering. The numbers are those of the sources.
"""

from __future__ import annotations

from collections.abc import Sequence

from chats.events import Source
from chats.generation.base import Passage, Prompt, Turn
from chats.sources import numbers_of
from retrieval.types import Retrieved

HISTORY_TURNS = 10
TURN_CHARS = 4_000  # of a question, and of an answer


def prompt_from(
    *,
    question: str,
    query: str,
    retrieved: Retrieved,
    sources: Sequence[Source],
    history: Sequence[Turn],
    max_tokens: int,
) -> Prompt:
    numbers = numbers_of(sources)
    return Prompt(
        question=question,
        query=query,
        passages=tuple(
            Passage(
                number=numbers[hit.url],
                url=hit.url,
                title=hit.title,
                section=hit.section,
                text=hit.text,
                language=hit.language,
                confidence=hit.confidence,
            )
            for hit in retrieved.hits
        ),
        history=latest(history),
        confidence=retrieved.confidence,
        max_tokens=max_tokens,
    )


def latest(history: Sequence[Turn]) -> tuple[Turn, ...]:
    """The last turns, each cut to a bounded length."""
    return tuple(
        Turn(question=turn.question[:TURN_CHARS], answer=turn.answer[:TURN_CHARS])
        for turn in history[-HISTORY_TURNS:]
    )
