"""Earlier turns as a model may see them: without numbers that belonged to their own sources. Pure.

Below: generation.base. Above: prompts, rewriting.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from chats.generation.base import Turn

_CODE = re.compile(r"(^[ ]{0,3}(```+|~~~+).*?(?:^[ ]{0,3}\2|\Z)|(`+)[^`].*?\3)", re.S | re.M)
_NUMBERS = r"\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*"
_CITATIONS = re.compile(
    rf"[ \t]*(?:\[{_NUMBERS}\](?![(\[:])|\[{_NUMBERS}\](?=\[\d)|【[^】\n]{{1,30}}】)"
)


def told(history: Sequence[Turn]) -> tuple[Turn, ...]:
    """The turns that have an answer, however short it was cut, each without its citations."""
    turns = (
        Turn(question=turn.question, answer=without_citations(turn.answer)) for turn in history
    )
    return tuple(turn for turn in turns if turn.question.strip() and turn.answer.strip())


def without_citations(text: str) -> str:
    """Code is left as it is: its brackets are no citations."""
    kept, end = [], 0
    for code in _CODE.finditer(text):
        kept += [_CITATIONS.sub("", text[end : code.start()]), code.group(0)]
        end = code.end()
    return "".join([*kept, _CITATIONS.sub("", text[end:])])
