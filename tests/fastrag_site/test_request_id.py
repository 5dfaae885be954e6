"""A request's name, in its response and its log lines."""

from __future__ import annotations

import json
import logging
import sys
from typing import Any

import pytest

from fastrag_site import request_id
from fastrag_site.lifespan import Message, Receive, Scope, Send
from fastrag_site.request_id import JsonFormatter, RequestId, RequestIdFilter


async def answer(*headers: tuple[bytes, bytes]) -> tuple[str, str]:
    """What the application saw, and what the client is told."""
    sent: list[Message] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        sent.append({"seen": request_id.current.get()})
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def receive() -> Message:
        raise AssertionError

    async def send(message: Message) -> None:
        sent.append(message)

    await RequestId(app)({"type": "http", "headers": list(headers)}, receive, send)
    ((name, value),) = sent[1]["headers"]
    assert name == b"x-request-id"
    return sent[0]["seen"], value.decode()


async def test_each_request_has_a_name_of_its_own() -> None:
    first, second = await answer(), await answer()
    assert first[0] == first[1]
    assert first[0] != second[0]


async def test_the_name_that_a_proxy_gave_is_kept() -> None:
    assert await answer((b"x-request-id", b"abc-123")) == ("abc-123", "abc-123")


@pytest.mark.parametrize("forged", [b"a b", b"a\nb", b"", b"x" * 65, "é".encode()])
async def test_a_name_that_could_forge_a_log_line_is_replaced(forged: bytes) -> None:
    seen, told = await answer((b"x-request-id", forged))
    assert seen == told
    assert len(told) == 32


def record(**attributes: Any) -> logging.LogRecord:
    made = {"msg": "two\nlines %s", "args": ("é",), "levelname": "ERROR", "name": "a.b"}
    return logging.makeLogRecord({**made, **attributes})


def test_log_lines_carry_the_name() -> None:
    made = record()
    token = request_id.current.set("abc")
    try:
        assert RequestIdFilter().filter(made)
        line = json.loads(JsonFormatter().format(made))
    finally:
        request_id.current.reset(token)
    assert made.request_id == "abc"  # type: ignore[attr-defined]
    assert line.items() >= {"request_id": "abc", "message": "two\nlines é"}.items()


def test_a_json_line_is_one_line_with_its_traceback() -> None:
    try:
        raise ValueError("broken")
    except ValueError:
        line = JsonFormatter().format(record(exc_info=sys.exc_info()))
    assert "\n" not in line
    assert "ValueError: broken" in json.loads(line)["traceback"]
