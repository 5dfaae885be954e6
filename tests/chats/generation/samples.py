"""Prompts made of a few lines, for the tests of quoting."""

from __future__ import annotations

from chats.generation.base import Passage, Prompt


def passage(
    text: str,
    *,
    number: int = 1,
    title: str = "Page",
    section: tuple[str, ...] = (),
    language: str = "en",
    confidence: float = 0.9,
) -> Passage:
    return Passage(
        number=number,
        url=f"https://site.example/{number}",
        title=title,
        section=section,
        text=text,
        language=language,
        confidence=confidence,
    )


def prompt(question: str, *passages: Passage, max_tokens: int = 1_000) -> Prompt:
    return Prompt(
        question=question,
        query=question,
        passages=passages,
        history=(),
        confidence=max((one.confidence for one in passages), default=0.0),
        max_tokens=max_tokens,
    )
