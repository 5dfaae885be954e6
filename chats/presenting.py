"""A chat as the page shows it: exchanges with sources, links and rendered answers.

Below: selectors, rendering, retrieval's fragments. Above: pages, templates/chats.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from django.utils.safestring import SafeString
from django.utils.text import Truncator
from django.utils.translation import gettext

from chats import selectors
from chats.events import Source
from chats.models import Chat, Generation, Message
from chats.rendering import answer_html, end_of_code, with_links
from retrieval.ingest.fragments import directive
from retrieval.selectors import passages_at
from retrieval.types import Fragment

SNIPPET_CHARS = 400
_NAMED = re.compile(r"(.*\S)\s+[-–—|·•:]\s+(.+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceShown:
    numbers: tuple[int, ...]
    href: str  # "" where the address is no web page
    title: str
    site: str
    icon: str
    snippet: str  # how the cited passages begin and end


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerShown:
    id: UUID
    html: SafeString
    markdown: str  # to copy: with links, and the list of sources
    sources: tuple[SourceShown, ...]
    finish_reason: str
    error: str
    rating: str = ""
    comment: str = ""
    earlier: tuple[AnswerShown, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningShown:
    """An answer that is being written, as far as its journal knows."""

    id: UUID
    said: str
    sources: tuple[SourceShown, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangeShown:
    question_id: UUID
    question: str
    answer: AnswerShown | None = None
    running: RunningShown | None = None


def exchanges_of(chat: Chat | None, running: Generation | None) -> tuple[ExchangeShown, ...]:
    """`running` has to be read before the chat: what settles in between is then in the chat."""
    stored: list[ExchangeShown] = []
    if chat is not None:
        messages, earlier = list(selectors.messages_of(chat)), selectors.alternatives_of(chat)
        for question, answer in zip(messages[::2], messages[1::2], strict=False):
            if running is not None and running.message_id == answer.id:
                running = None
            shown = answer_shown(answer, earlier.get(answer.position, ()))
            stored.append(
                ExchangeShown(question_id=question.id, question=question.content, answer=shown)
            )
    if running is None:
        return tuple(stored)
    current = ExchangeShown(
        question_id=running.user_message_id,
        question=running.question,
        running=RunningShown(
            id=running.message_id, said=running.said, sources=sources_shown(running.sources)
        ),
    )
    for place, exchange in enumerate(stored):
        if exchange.question_id == current.question_id:
            return (*stored[:place], current, *stored[place + 1 :])
    return (*stored, current)


def answer_shown(message: Message, earlier: Sequence[Message] = ()) -> AnswerShown:
    sources = sources_shown(message.sources)
    cited = {number: source for source in sources for number in source.numbers}
    feedback = getattr(message, "feedback", None)
    return AnswerShown(
        id=message.id,
        html=answer_html(message.content, cited),
        markdown=_copyable(message.content, sources),
        sources=sources,
        finish_reason=message.finish_reason,
        error=gettext(message.error_message) if message.error_message else "",
        rating=feedback.rating if feedback else "",
        comment=feedback.comment if feedback else "",
        earlier=tuple(answer_shown(one) for one in earlier),
    )


def sources_shown(sources: Sequence[Mapping[str, Any]]) -> tuple[SourceShown, ...]:
    return tuple(_source_shown(Source.from_dict(source)) for source in sources)


def passages_shown(source: Mapping[str, Any]) -> list[str]:
    """The beginning of each passage that a source is cited for."""
    cited = Source.from_dict(source)
    texts = passages_at(cited.url, cited.fragments)
    return [Truncator(text).chars(SNIPPET_CHARS) for text in texts]


def _source_shown(source: Source) -> SourceShown:
    icon = source.favicon_url or ""
    return SourceShown(
        numbers=source.positions,
        href=_passage_link(source) if _is_web(source.url) else "",
        title=_own_title(source),
        site=source.site_name or _host(source.url),
        icon=icon if _is_web(icon) else "",
        snippet=" ⋯ ".join(map(_quoted, source.fragments)),
    )


def _own_title(source: Source) -> str:
    """Without the name of the site at its end, which is shown above it."""
    found = _NAMED.fullmatch(source.title)
    return found[1] if found and found[2] == source.site_name else source.title


def _passage_link(source: Source) -> str:
    text = directive(source.fragments)
    if not text:
        return source.url
    return source.url + (text if "#" in source.url else f"#{text}")


def _quoted(fragment: Fragment) -> str:
    return f"{fragment.start} … {fragment.end}" if fragment.end else fragment.start


def _is_web(url: str) -> bool:
    return url.lower().startswith(("http://", "https://"))


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def _copyable(content: str, sources: Sequence[SourceShown]) -> str:
    cited = {number: source for source in sources for number in source.numbers}
    lines = [
        with_links("".join(f"[{number}]" for number in source.numbers), cited)
        + f" {' '.join(source.title.split())}"
        for source in sources
    ]
    listed = "\n".join(f"- {line}" for line in lines)
    return f"{with_links(content, cited)}{end_of_code(content)}\n\n{listed}" if listed else content
