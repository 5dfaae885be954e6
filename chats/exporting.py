"""A conversation as a Markdown document with its sources. Pure.

Below: rendering, retrieval's fragments, events. Above: message_views. Questions are quoted and
answers stand as they are: they are Markdown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django.utils.http import content_disposition_header
from django.utils.text import slugify

from chats.events import Source
from chats.models import Message
from chats.rendering import end_of_code
from retrieval.ingest.fragments import directive

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~])")
_BREAKS_LINK = {" ": "%20", "<": "%3C", ">": "%3E", "(": "%28", ")": "%29", "\\": "%5C"}
_NAME_CHARS = 60


def as_markdown(title: str, messages: Iterable[Message]) -> str:
    parts = [f"# {_plain(title)}"]
    for message in messages:
        parts.extend(_question(message) if message.position % 2 == 0 else _answer(message))
    return "\n\n".join(parts) + "\n"


def file_name(title: str, extension: str) -> str:
    return f"{slugify(title, allow_unicode=True)[:_NAME_CHARS].strip('-') or 'chat'}.{extension}"


def disposition(name: str) -> str:
    header = content_disposition_header(as_attachment=True, filename=name)
    assert header is not None
    return header


def _question(message: Message) -> Iterator[str]:
    # Lines end where Markdown ends them.
    lines = re.split(r"\r\n|\r|\n", message.content)
    yield "\n".join(f"> {line}".rstrip() for line in lines)


def _answer(message: Message) -> Iterator[str]:
    if message.content:
        yield message.content + end_of_code(message.content)
    if message.error_code:
        yield f"*The answer failed: {_plain(message.error_message)}*"
    elif message.finish_reason == "interrupted":
        yield "*The answer was interrupted.*"
    elif message.finish_reason == "length":
        yield "*The answer reached its longest length.*"
    if message.sources:
        yield "Sources:\n\n" + "\n".join(map(_source, message.sources))


def _source(data: Mapping[str, Any]) -> str:
    source = Source.from_dict(data)
    numbers = "".join(f"\\[{number}\\]" for number in source.positions)
    target = source.url
    if text := directive(source.fragments):
        target += text if "#" in target else f"#{text}"
    link = "".join(_BREAKS_LINK.get(character, character) for character in target)
    return f"- {numbers} [{_plain(source.title)}]({link})"


def _plain(text: str) -> str:
    """On one line, with nothing in it that Markdown would take for a mark."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))
