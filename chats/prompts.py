"""What the model is given: the question, numbered passages, the earlier turns. Pure.

Below: generation.base, sources, earlier. Above: writing. The numbers are those of the sources.
"""

from __future__ import annotations

from collections.abc import Sequence

from chats.earlier import told
from chats.events import Source
from chats.generation.base import Passage, Prompt, Turn
from chats.sources import numbers_of
from retrieval.trust import injection_suspected
from retrieval.types import Retrieved

HISTORY_TURNS = 1_000  # that are read: more than a chat may hold; `budget` cuts to the window


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
                closeness=hit.scores.dense,
                suspected=injection_suspected(hit.text),
            )
            for hit in retrieved.hits
        ),
        history=told(history),
        confidence=retrieved.confidence,
        max_tokens=max_tokens,
    )
