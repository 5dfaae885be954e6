"""What a server or its connection did wrong → the GenerationFailed that says so. Pure.

Below: errors. Above: opening, chunks, reading. What the server said is looked at, and never passed
on: only the debug log may hold it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from django.utils.translation import gettext_noop as _

from chats.generation.errors import (
    ContextTooLong,
    GenerationFailed,
    GenerationTimeout,
    ModelError,
    UpstreamUnavailable,
)

UNREACHABLE = _("The model is not reachable; try again shortly.")
BUSY = _("The model is busy; try again shortly.")
LATE = _("The model did not begin to answer in time.")
SILENT = _("The model fell silent.")
BROKEN = _("The model's answer broke off.")
FILTERED = _("The model's content filter withheld the answer.")
TOOLS = _("The model asked for a tool instead of answering.")
CREDENTIALS = _("The model does not accept this site's credentials.")
UNKNOWN = _("The model is not known where it is asked for.")
REFUSED = _("The model refused the request.")

_TIMED_OUT = frozenset({408, 504, 524})
_OUT_OF_CAPACITY = frozenset({425, 429, 498, 502, 503, *range(520, 531)})
_CONTEXT = re.compile(
    r"context[ _-]?(?:length|window(?!_fallback)|size|limit)|exceed_context_size"
    r"|string_above_max_length|max_model_len|maximum model length|n_ctx\b"
    r"|too many (?:input |prompt )?tokens"
    r"|(?:prompt|input)(?: length)? is too long|reduce the length of the (?:messages|prompt|input)"
    r"|(?:prompt|input) length .{0,40}exceeds|exceeds? (?:the )?(?:maximum|token) (?:input )?limit"
    r"|token count .{0,40}exceeds|maximum (?:input|prompt|sequence) length|input tokens exceed"
    r"|max_new_tokens. must be <=",
    re.IGNORECASE,
)
_CAPACITY = re.compile(
    r"rate[ _-]?limit|too[ _-]many[ _-]requests|overloaded|capacity|quota|throttl|server_busy"
    r"|service[ _-]?unavailable|resource[ _-]exhausted|temporarily unavailable|try again later"
    r"|loading model|unavailable_error|no healthy upstream|no available|queue is full",
    re.IGNORECASE,
)
_MOST_LOOKED_AT = 5_000  # characters


def failure_of_status(status: int, told: object) -> GenerationFailed:
    """For an HTTP error and the error object of its body."""
    words = words_of(told)
    if status == 401 or status == 403:
        return ModelError(CREDENTIALS)
    if status in _TIMED_OUT:
        return GenerationTimeout(LATE)
    if status in _OUT_OF_CAPACITY:
        return UpstreamUnavailable(BUSY if status == 429 else UNREACHABLE)
    if _CONTEXT.search(words):
        return ContextTooLong()
    if _CAPACITY.search(words):
        return UpstreamUnavailable(BUSY)
    if status == 413:
        return ContextTooLong()
    if status == 404:
        return ModelError(UNKNOWN)
    return ModelError(REFUSED if status < 500 else None)


def failure_told(told: object) -> GenerationFailed:
    """For an error frame inside a stream that began well."""
    code = told.get("code") if isinstance(told, Mapping) else None
    if isinstance(code, str) and code.isdecimal():
        code = int(code)
    status = code if isinstance(code, int) and not isinstance(code, bool) else 500
    return failure_of_status(status if 400 <= status < 600 else 500, told)


def words_of(told: object) -> str:
    """All short strings of an error object, to look for codes and well-known wordings."""
    return "\n".join(_strings(told, depth=4))[:_MOST_LOOKED_AT]


def _strings(value: object, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value[:_MOST_LOOKED_AT]
    elif depth and isinstance(value, Mapping):
        for key, inner in value.items():
            yield str(key)
            yield from _strings(inner, depth - 1)
    elif depth and isinstance(value, list):
        for inner in value[:20]:
            yield from _strings(inner, depth - 1)
