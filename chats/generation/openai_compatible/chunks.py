"""The JSON of one chunk → what it says. Pure.

Below: failures. Above: reading. A chunk may be anything that a server calls compatible; whatever
cannot be read raises ModelError, and a chunk that tells of an error raises that error.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from chats.generation.base import Usage
from chats.generation.errors import ModelError
from chats.generation.openai_compatible.failures import failure_told
from chats.generation.openai_compatible.sse import Event

_NOT_YET = frozenset({"null", "None"})  # as some servers write an absent finish reason
_MOST_TOKENS = 2**31 - 1  # that the database stores


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    text: str = ""
    thinks: bool = False  # carries reasoning, which is no part of the answer
    finish: str = ""  # the finish reason, in the server's word
    usage: Usage | None = None


def chunk_from(event: Event) -> Chunk:
    try:
        found = json.loads(event.data)
    except (ValueError, RecursionError):
        raise ModelError from None
    if not isinstance(found, Mapping):
        raise ModelError
    if found.get("error") or event.name == "error" or found.get("object") == "error":
        raise failure_told(found.get("error") or found)
    choice = _first_choice(found)
    said = _mapping(choice.get("delta") or choice.get("message"))
    text, thinks = _content(said.get("content") or said.get("refusal"))
    finish = choice.get("finish_reason")
    return Chunk(
        text=text,
        thinks=thinks or bool(said.get("reasoning_content") or said.get("reasoning")),
        finish=finish if isinstance(finish, str) and finish not in _NOT_YET else "",
        usage=_usage(found.get("usage")),
    )


def _first_choice(found: Mapping[str, Any]) -> Mapping[str, Any]:
    """The first of the alternatives: we ask for one. The last chunk may have none."""
    choices = found.get("choices") or []
    if not isinstance(choices, list):
        raise ModelError
    for choice in choices:
        if not _mapping(choice).get("index"):
            return _mapping(choice)
    return {}


def _content(content: object) -> tuple[str, bool]:
    """Text, or a list of parts of which those typed "text" are answer; and whether others are."""
    if not content:
        return "", False
    if isinstance(content, str):
        return content, False
    if not isinstance(content, list):
        raise ModelError
    parts = [_mapping(part) for part in content]
    texts = [part.get("text") for part in parts if part.get("type") == "text"]
    return "".join(text for text in texts if isinstance(text, str)), len(texts) < len(parts)


def _usage(found: object) -> Usage | None:
    if not isinstance(found, Mapping):
        return None
    prompt, completion = _count(found.get("prompt_tokens")), _count(found.get("completion_tokens"))
    if prompt is None or completion is None:
        return None
    return Usage(prompt_tokens=prompt, completion_tokens=completion)


def _count(value: object) -> int | None:
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value <= _MOST_TOKENS else None


def _mapping(value: object) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise ModelError
    return value
