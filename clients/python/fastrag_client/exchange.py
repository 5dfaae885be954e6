"""What both clients do around their I/O: what is sent, and what the bytes that come mean. Pure.

Below: decoder, events, errors. Above: client, client_async.
"""

from __future__ import annotations

import json
import math
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import quote

import httpx

from fastrag_client.decoder import EventStreamDecoder
from fastrag_client.errors import ConnectionLost, Refused
from fastrag_client.events import Event, event_of

# The server sends a keep-alive every 15 seconds: a longer silence means that it is gone.
TIMEOUT = httpx.Timeout(10.0, read=60.0)
MOST_OF_A_REFUSAL = 65_536  # bytes


class AnswerReader:
    """Bytes in, typed events out."""

    def __init__(self) -> None:
        self._decoder = EventStreamDecoder()

    def feed(self, chunk: bytes) -> Iterator[Event]:
        for frame in self._decoder.feed(chunk):
            try:
                event = event_of(frame.name, _known(frame.name, frame.data))
            except (ValueError, LookupError, TypeError) as error:
                raise ConnectionLost("An event is not as it should be.") from error
            if event is not None:
                yield event


def address(server: str, path: str) -> str:
    return f"{server.rstrip('/')}/api/{path}"


def path_of_chat(chat_id: str) -> str:
    return f"chats/{quote(chat_id, safe='')}"


def path_of_question(chat_id: str | None) -> str:
    return "chats" if chat_id is None else f"{path_of_chat(chat_id)}/messages"


def path_of_again(chat_id: str, message_id: str) -> str:
    return f"{path_of_chat(chat_id)}/messages/{quote(message_id, safe='')}/regenerate"


def headers_of(
    cookies: httpx.Cookies, api_key: str | None, *, key: str | None = None, stream: bool = False
) -> dict[str, str]:
    """A stream has an idempotency key of its own where it is given none."""
    headers = {}
    if api_key:
        headers["Authorization"] = f"Bearer {api_key}"
    if token := cookies.get("csrftoken"):
        headers["X-CSRFToken"] = token
    if stream:
        headers["Accept"] = "text/event-stream"
        headers["Accept-Encoding"] = "identity"  # compression would hold events back
        headers["Idempotency-Key"] = key or secrets.token_hex(16)
    return headers


def is_stream(response: httpx.Response) -> bool:
    return response.is_success and _media_type(response) == "text/event-stream"


def refusal_of(response: httpx.Response, body: bytes) -> Refused:
    """What a response that is not the expected one says."""
    headers: dict[str, Any] = {
        "retry_after": _seconds(response.headers.get("Retry-After")),
        "request_id": response.headers.get("X-Request-ID"),
    }
    try:
        error = json.loads(body)["error"] if response.is_error else None
        if isinstance(error, Mapping):
            return Refused(
                response.status_code,
                error["code"],
                error["message"],
                fields=error.get("fields"),
                details=error.get("details"),
                **headers,
            )
    except (ValueError, LookupError, TypeError):
        pass
    message = f"The server answered with {response.status_code} {response.reason_phrase}.".strip()
    if response.is_redirect:
        message = "The server redirects this address; use the one that it is served at."
    elif response.is_success:
        message = "What answered at this address is no Fastrag site."
    return Refused(response.status_code, "UNKNOWN", message, **headers)


@contextmanager
def network_as_lost() -> Iterator[None]:
    try:
        yield
    except (httpx.TransportError, httpx.DecodingError) as error:
        raise ConnectionLost(str(error) or type(error).__name__) from error


def json_of(response: httpx.Response, body: bytes) -> Any:
    if not response.is_success:
        raise refusal_of(response, body)
    if not body:
        return None
    try:
        return json.loads(body)
    except ValueError as error:
        raise refusal_of(response, body) from error


def _known(name: str, data: str) -> Any:
    """Events of later versions need not even be JSON."""
    return json.loads(data) if name in ("message_start", "sources", "delta", "message_end") else {}


def _media_type(response: httpx.Response) -> str:
    return str(response.headers.get("Content-Type", "")).partition(";")[0].strip().lower()


def _seconds(wait: str | None) -> int | None:
    """Of Retry-After: seconds, or a date as proxies send it."""
    if wait is None:
        return None
    if wait.isdecimal():
        return int(wait)
    try:
        until = parsedate_to_datetime(wait)
    except ValueError:
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return max(0, math.ceil((until - datetime.now(UTC)).total_seconds()))
