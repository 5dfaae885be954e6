"""What models are told, rendered from templates/chats/prompts, which an owner can replace.

Below: the template files. Above: openai_compatible.messages, rewriting, titling, checks. What comes
from pages or readers stands between marks that it cannot close: it is data.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from django.template.loader import render_to_string

from chats.generation.base import Passage

SYSTEM = "chats/prompts/system.txt"
REWRITE = "chats/prompts/rewrite.txt"
TITLE = "chats/prompts/title.txt"

# Our own marks, and those that tokenizers take for the begin of another role or turn.
_MARK = re.compile(
    r"<(?=\s*/?\s*(?:passages?|conversation|message)\b|<?/?sys>>|/?s>|(?:start|end)_of_turn>"
    r"|[|｜][\w▁]{1,40}[|｜]>)|\[(?=/?INST\])",
    re.IGNORECASE,
)
_BROKEN = {"<": "&lt;", "[": "&#91;"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A passage as the template shows it: one line each of `title` and `section`, ready quoted."""

    number: int
    title: str
    section: str
    text: str
    url: str
    language: str
    suspected: bool


def system_text(passages: Sequence[Passage]) -> str:
    return render_to_string(SYSTEM, {"passages": [_shown(one) for one in passages]}).strip()


def rewrite_text() -> str:
    return render_to_string(REWRITE).strip()


def title_text(question: str, answer: str) -> str:
    told = {"question": quoted(question), "answer": quoted(answer)}
    return render_to_string(TITLE, told).strip()


def quoted(text: str) -> str:
    """The text with the marks in it broken that would end it, or the message that it is in."""
    return _MARK.sub(lambda found: _BROKEN[found.group()], text)


def _shown(passage: Passage) -> Shown:
    return Shown(
        number=passage.number,
        title=_label(passage.title),
        section=_label(" > ".join(part for part in passage.section if part)),
        text=quoted(passage.text),
        url=_label(passage.url),
        language=_label(passage.language),
        suspected=passage.suspected,
    )


def _label(text: str) -> str:
    return escape(" ".join(text.split()))


_PASSAGE = Passage(
    number=7, url="", title="", section=(), text="a & b", language="en", confidence=1.0
)
# For checks: each template rendered, and what has to stand in it.
SAMPLES: Mapping[str, Callable[[], str]] = {
    SYSTEM: lambda: system_text([_PASSAGE]),
    REWRITE: rewrite_text,
    TITLE: lambda: title_text("g & h", "e & f"),
}
EXPECTED: Mapping[str, Sequence[str]] = {
    SYSTEM: ("7", "a & b"),
    REWRITE: (),
    TITLE: ("g & h", "e & f"),
}
