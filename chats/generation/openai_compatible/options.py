"""How an OpenAI-compatible server is asked: OPTIONS of the backend over FASTRAG_CHAT_… settings.

Below: conf. Above: model, clients, checks. What is wrong is said in words that name the setting,
and never hold a value that may be secret: the key, or a URL with credentials in it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import SplitResult, urlsplit

import httpx
from django.core.exceptions import ImproperlyConfigured

from fastrag_site.conf import conf

BACKEND = "chats.generation.openai_compatible.OpenAICompatibleModel"
# Option → the key of conf, and so FASTRAG_<KEY>, that holds it where OPTIONS do not.
SETTINGS = {
    "base_url": "chat_base_url",
    "model": "chat_model_name",
    "api_key": "chat_api_key",
    "temperature": "chat_temperature",
    "max_tokens": "answer_max_tokens",
    "context_window": "chat_context_window",
    "extra_headers": "chat_extra_headers",
    "extra_body": "chat_extra_body",
}
RESERVED = frozenset({"messages", "model", "n", "stream"})  # of the request body: ours to set
# Of the request's headers: those that say where it ends, and what it asks for.
RESERVED_HEADERS = frozenset(
    {"accept-encoding", "connection", "content-length", "content-type", "transfer-encoding"}
)
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # a header's name
_MOST = 2**31 - 1
_VISIBLE = re.compile(r"[\x20-\x7e]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    base_url: str = field(repr=False)  # up to and without /chat/completions
    model: str
    api_key: str = field(default="", repr=False)  # "" sends none
    temperature: float | None = None  # None leaves it to the server
    max_tokens: int | None = None  # of an answer, reasoning included; None: as the prompt says
    context_window: int = 8192  # tokens that prompt and answer share
    extra_headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    extra_body: Mapping[str, Any] = field(default_factory=dict, repr=False)
    ask_usage: bool = True  # stream_options; a server that refuses it is asked without
    thinks_at_once: bool = False  # the chat template opens <think>, the reply only closes it
    retries: int = 1  # before the first byte
    connect_seconds: float = 5.0
    read_seconds: float = 65.0  # of silence on the connection, whatever the site's own bounds


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    option: str
    words: str

    def __str__(self) -> str:
        return f"{named(self.option)} {self.words}"


def options_from(given: Mapping[str, Any]) -> Options:
    """Raises ImproperlyConfigured with all that is wrong; TypeError for an unknown option."""
    options = merged(given)
    if found := list(problems(options)):
        raise ImproperlyConfigured(" ".join(f"{problem}." for problem in found))
    return options


def merged(given: Mapping[str, Any]) -> Options:
    current = conf()
    site = {
        option: getattr(current, key) for option, key in SETTINGS.items() if option != "max_tokens"
    }
    silence = max(current.first_token_seconds, current.token_silence_seconds)
    values = {"read_seconds": silence + 5.0, **site, **given}
    for name in ("base_url", "model", "api_key"):
        if isinstance(values[name], str):
            values[name] = values[name].strip()
    return Options(**values)


def named(option: str) -> str:
    """The setting of an option, as operators know it."""
    key = SETTINGS.get(option)
    inner = f"OPTIONS['{option}'] of FASTRAG_CHAT_MODEL"
    return f"FASTRAG_{key.upper()} (or {inner})" if key else inner


def problems(options: Options) -> Iterator[Problem]:
    for option, words in _wrong(options):
        yield Problem(option=option, words=words)


def travels_openly(options: Options) -> bool:
    """Whether the key or the questions leave this machine unencrypted."""
    url = urlsplit(options.base_url)
    return url.scheme == "http" and url.hostname not in {"localhost", "127.0.0.1", "::1"}


def _wrong(options: Options) -> Iterator[tuple[str, str]]:
    if words := _wrong_url(options.base_url):
        yield "base_url", words
    if not isinstance(options.model, str) or not options.model:
        yield "model", "is not set: name the model that the server is to use"
    elif not options.model.isprintable():
        yield "model", "holds characters that no name has"
    if not isinstance(options.api_key, str) or not _VISIBLE.fullmatch(options.api_key):
        yield "api_key", "holds characters that no key has"
    if not (options.temperature is None or _is_number(options.temperature, 0, 2)):
        yield "temperature", "is no number from 0 to 2"
    yield from _wrong_sizes(options)
    yield from _wrong_extras(options)
    if not _is_whole(options.retries, 0, 5):
        yield "retries", "is no whole number from 0 to 5"
    for option in ("ask_usage", "thinks_at_once"):
        if not isinstance(getattr(options, option), bool):
            yield option, "is neither true nor false"
    for option in ("connect_seconds", "read_seconds"):
        if not _is_number(getattr(options, option), 0.01, 3600):
            yield option, "is no positive number of seconds, or more than an hour"


def _wrong_sizes(options: Options) -> Iterator[tuple[str, str]]:
    window, limit = options.context_window, options.max_tokens
    if limit is None:
        limit = conf().answer_max_tokens
    if not _is_whole(limit, 1, _MOST):
        yield "max_tokens", "is no positive whole number"
    elif not _is_whole(window, 1, _MOST):
        yield "context_window", "is no positive whole number"
    elif window <= limit:
        yield "context_window", f"leaves no room for a prompt beside {named('max_tokens')}"


def _wrong_url(url: object) -> str:
    if not isinstance(url, str) or not url:
        return "is not set: give the server's address, such as http://127.0.0.1:8080/v1"
    parts = _split(url)
    if parts is None or parts.scheme not in {"http", "https"} or not parts.hostname:
        return "is no http:// or https:// address"
    if parts.path.rstrip("/").endswith("/chat/completions"):
        return "ends in /chat/completions: give what stands before it"
    if parts.query or parts.fragment:
        return "has a query or a fragment, which would not be sent"
    return ""


def _split(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        _ = parts.port, httpx.URL(url)  # raise as well
    except (ValueError, httpx.InvalidURL):
        return None
    return parts


def _wrong_extras(options: Options) -> Iterator[tuple[str, str]]:
    headers, body = options.extra_headers, options.extra_body
    if not isinstance(headers, Mapping) or not all(map(_is_header, headers.items())):
        yield "extra_headers", "is no JSON object of header names with values"
    elif taken := sorted(RESERVED_HEADERS & {name.lower() for name in headers}):
        yield "extra_headers", f"sets {', '.join(taken)}, which the site sets itself"
    if not isinstance(body, Mapping) or not _is_json(body):
        yield "extra_body", "is no JSON object"
    elif taken := sorted(RESERVED & set(body)):
        yield "extra_body", f"sets {', '.join(taken)}, which the site sets itself"


def _is_header(item: tuple[object, object]) -> bool:
    name, value = item
    return (
        isinstance(name, str)
        and isinstance(value, str)
        and bool(_TOKEN.fullmatch(name) and _VISIBLE.fullmatch(value))
        and value == value.strip()
    )


def _is_json(value: object) -> bool:
    """As requests hold it: UTF-8, and without NaN, which Python's own reader takes."""
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def _is_number(value: object, least: float, most: float) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and least <= value <= most


def _is_whole(value: object, least: int, most: int) -> bool:
    return isinstance(value, int) and _is_number(value, least, most)
