"""All clients against a server that plays scripts: bytes cut anywhere, refusals, a bad network."""

from __future__ import annotations

import gzip
import json
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from tests.clients.drivers import Ask, Driver, Outcome
from tests.upstream import (
    CHUNKED_HEAD,
    HEAD,
    KEEP,
    LAST_CHUNK,
    RESET,
    STALL,
    Step,
    Upstream,
    chunked,
    head,
    nobody,
    one_by_one,
    upstream,
)

CHAT, ASKED, ANSWER = "c-1", "u-1", "m-1"
SOURCE = {
    "url": "https://e.org/",
    "title": "Ünï\u2028cøde 😀",
    "site_name": None,
    "favicon_url": None,
    "positions": [1],
    "fragments": [{"start": "a", "end": None}],
}


def frame(name: str, end: str = "\n", **data: Any) -> bytes:
    text = json.dumps({"message_id": ANSWER, **data}, ensure_ascii=False)
    return f"event: {name}{end}data: {text}{end}{end}".encode()


def token(text: str) -> bytes:
    return frame("delta", delta={"type": "text", "text": text})


START = frame("message_start", chat_id=CHAT, user_message_id=ASKED)
SOURCES = frame("sources", sources=[SOURCE])
END = frame("message_end", finish_reason="stop")
WHOLE = START + SOURCES + token("One ") + token("two 😀.") + END
EVENTS = [
    {"event": "message_start", "message_id": ANSWER, "chat_id": CHAT, "user_message_id": ASKED},
    {"event": "sources", "message_id": ANSWER, "sources": [SOURCE]},
    {"event": "delta", "message_id": ANSWER, "delta": {"type": "text", "text": "One "}},
    {"event": "delta", "message_id": ANSWER, "delta": {"type": "text", "text": "two 😀."}},
    {"event": "message_end", "message_id": ANSWER, "finish_reason": "stop"},
]


def url_of(server: Upstream) -> str:
    return f"http://127.0.0.1:{server.port}"


def asked(driver: Driver, *script: Step, silence: float = 20.0) -> tuple[Outcome, Upstream]:
    with upstream(script) as server:
        (outcome,) = driver.run(url_of(server), [Ask()], silence=silence)
    assert len(server.requests) == 1  # never a second time
    return outcome, server


def refusal(status: int, body: bytes, **headers: str | int) -> list[Step]:
    return [head(status, Content_Length=len(body), **headers) + body]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "script",
    [
        pytest.param([HEAD, WHOLE], id="at once"),
        pytest.param([HEAD, *one_by_one(WHOLE)], id="byte by byte"),
        pytest.param([HEAD, b"\xef\xbb\xbf" + WHOLE], id="after a byte order mark"),
        pytest.param([HEAD, WHOLE.replace(b"\n", b"\r\n")], id="CRLF"),
        pytest.param([HEAD, WHOLE.replace(b"\n", b"\r")], id="CR"),
        pytest.param([HEAD, b": keep-alive\n\n\n\n" + WHOLE], id="comments and empty lines"),
        pytest.param([HEAD, b"event: usage\ndata: 7\n\ndata: x\n\n" + WHOLE], id="more events"),
        pytest.param(
            [HEAD, START, frame("delta", delta={"type": "image"}), WHOLE[len(START) :]],
            id="more kinds of delta",
        ),
        pytest.param(
            [
                CHUNKED_HEAD,
                *map(chunked, WHOLE.split(b"n")[:1]),
                chunked(b"n" + WHOLE.split(b"n", 1)[1]),
                LAST_CHUNK,
            ],
            id="chunked",
        ),
        pytest.param(
            [head(Content_Encoding="gzip") + gzip.compress(WHOLE)], id="compressed by a proxy"
        ),
        pytest.param([head(content_type="Text/Event-Stream; charset=UTF-8"), WHOLE], id="its type"),
        pytest.param([HEAD, WHOLE, token("more"), STALL], id="nothing counts after the end"),
    ],
)
def test_an_answer_is_read_however_it_comes(driver: Driver, script: list[Step]) -> None:
    outcome, _ = asked(driver, *script)
    assert outcome.problem is None
    assert outcome.events == EVENTS


def test_a_failed_answer_says_why(driver: Driver) -> None:
    error = {"code": "TIMEOUT", "message": "Too long."}
    end = frame("message_end", finish_reason="error", error=error)
    outcome, _ = asked(driver, HEAD, START, end)
    assert outcome.problem is None
    assert outcome.events[-1]["error"] == error


def test_an_event_of_a_megabyte_is_an_event(driver: Driver) -> None:
    title = "😀" * 250_000
    large = frame("sources", sources=[SOURCE | {"title": title}])
    outcome, _ = asked(driver, HEAD, START, large, END)
    assert outcome.events[1]["sources"][0]["title"] == title


def test_a_question_is_posted_as_json_with_a_key_of_its_own(driver: Driver) -> None:
    with upstream([HEAD, WHOLE]) as server:
        driver.run(url_of(server), [Ask("Why?"), Ask("And?", "$chat"), Ask("So?", key="k")])
    first, second, third = server.requests
    assert (first.method, first.path, first.json) == ("POST", "/api/chats", {"content": "Why?"})
    assert second.path == f"/api/chats/{CHAT}/messages"
    assert first.headers["accept"] == "text/event-stream"
    keys = [request.headers["idempotency-key"] for request in server.requests]
    assert len(set(keys)) == 3
    assert third.headers["idempotency-key"] == "k"


def test_a_refusal_has_its_code_and_how_long_to_wait(driver: Driver) -> None:
    body = b'{"error": {"code": "RATE_LIMITED", "message": "Wait."}}'
    json_head = {"content_type": "application/json", "Retry_After": 7, "X_Request_ID": "r1"}
    outcome, _ = asked(driver, *refusal(429, body, **json_head))  # type: ignore[arg-type]
    assert outcome.events == []
    assert outcome.problem == {
        "kind": "Refused",
        "status": 429,
        "code": "RATE_LIMITED",
        "message": "Wait.",
        "retry_after": 7,
        "request_id": "r1",
        "fields": {},
        "details": {},
    }


def test_a_refusal_names_fields_and_the_answer_that_is_being_written(driver: Driver) -> None:
    fields = {"error": {"code": "VALIDATION_ERROR", "message": "M", "fields": {"content": ["No."]}}}
    busy = {"error": {"code": "CHAT_BUSY", "message": "M", "details": {"message_id": "m"}}}
    for status, body, part in ((400, fields, "fields"), (409, busy, "details")):
        sent = refusal(status, json.dumps(body).encode(), content_type="application/json")
        outcome, _ = asked(driver, *sent)
        assert outcome.problem is not None
        assert outcome.problem[part] == body["error"][part]


def test_a_page_of_a_proxy_is_a_refusal_without_a_code(driver: Driver) -> None:
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    sent = refusal(502, b"<html>Bad", content_type="text/html", Retry_After=soon)
    outcome, _ = asked(driver, *sent)
    assert outcome.problem is not None
    assert (outcome.problem["status"], outcome.problem["code"]) == (502, "UNKNOWN")
    assert 60 <= outcome.problem["retry_after"] <= 90


@pytest.mark.parametrize("body", [b"{", b"[]", b"null", b'{"error": "no"}', b'{"error": {}}', b"7"])
def test_json_that_is_not_ours_is_a_refusal_without_a_code(driver: Driver, body: bytes) -> None:
    outcome, _ = asked(driver, *refusal(500, body, content_type="application/json"))
    assert outcome.problem is not None
    assert (outcome.problem["status"], outcome.problem["code"]) == (500, "UNKNOWN")


@pytest.mark.parametrize("status", [301, 303, 307, 308])
def test_a_redirect_is_not_followed(driver: Driver, status: int) -> None:
    with upstream([HEAD, WHOLE]) as other:
        where = f"{url_of(other)}/api/chats"
        outcome, _ = asked(driver, *refusal(status, b"", Location=where))
        assert other.requests == []
    assert outcome.problem is not None
    assert outcome.problem["code"] == "UNKNOWN"
    assert "redirects" in outcome.problem["message"]


def test_a_page_instead_of_a_stream_is_no_answer(driver: Driver) -> None:
    outcome, _ = asked(driver, head(content_type="text/html"), b"<html>Welcome to our wifi")
    assert outcome.problem is not None
    assert (outcome.problem["status"], outcome.problem["code"]) == (200, "UNKNOWN")
    assert outcome.problem["message"] == "What answered at this address is no Fastrag site."


@pytest.mark.parametrize(
    ("script", "events"),
    [
        pytest.param([RESET], [], id="no response"),
        pytest.param([b"HTTP/1.1 200"], [], id="half a head"),
        pytest.param([b"\x15\x03\x01 not HTTP\r\n\r\n"], [], id="not HTTP"),
        pytest.param([HEAD], [], id="an empty stream"),
        pytest.param([HEAD, START + token("One ")], ["message_start", "delta"], id="a clean end"),
        pytest.param([HEAD, START, token("One ")[:-20]], ["message_start"], id="in mid-frame"),
        pytest.param([HEAD, START, END[:-1]], ["message_start"], id="before the last line end"),
        pytest.param([CHUNKED_HEAD, chunked(START)], ["message_start"], id="before the last chunk"),
        pytest.param(
            [HEAD, START, b"event: delta\ndata: {\n\n", STALL], ["message_start"], id="bad JSON"
        ),
        pytest.param(
            [HEAD, START, b"event: delta\ndata: {}\n\n", STALL], ["message_start"], id="no text"
        ),
        pytest.param(
            [head(500, content_type="application/json", Content_Length=99), b"{"],
            [],
            id="half a refusal",
        ),
    ],
)
def test_a_stream_that_breaks_off_is_a_lost_connection(
    driver: Driver, script: list[Step], events: list[str]
) -> None:
    outcome, _ = asked(driver, *script)
    assert outcome.problem == {"kind": "ConnectionLost"}
    assert outcome.names == events


def test_nobody_there_is_a_lost_connection(driver: Driver) -> None:
    with nobody() as url:
        (outcome,) = driver.run(url.removesuffix("/v1"), [Ask()])
    assert outcome.problem == {"kind": "ConnectionLost"}


@pytest.mark.parametrize("script", [[STALL], [HEAD, START, STALL]], ids=["before", "in the middle"])
def test_a_server_that_falls_silent_is_a_lost_connection(
    driver: Driver, script: list[Step]
) -> None:
    outcome, server = asked(driver, *script, silence=2.0)  # it must connect within
    assert outcome.problem == {"kind": "ConnectionLost"}
    assert len(server.closed_at) == 1  # it was told


def test_a_question_on_a_connection_that_turns_out_dead_is_not_sent_again(driver: Driver) -> None:
    listed = b'{"results": [], "next": null, "previous": null}'
    warm: list[Step] = [head(content_type="application/json", Content_Length=len(listed)) + listed]
    with upstream([*warm, KEEP], [RESET], [HEAD, WHOLE]) as server:
        first, second = driver.run(url_of(server), [driver.chats, Ask()])
    assert first.value["results"] == []
    assert second.problem == {"kind": "ConnectionLost"}
    assert [request.method for request in server.requests] == ["GET", "POST"]


def test_a_reader_that_leaves_closes_the_connection(driver: Driver) -> None:
    with upstream([HEAD, START, token("One "), STALL]) as server:
        began = time.monotonic()
        (outcome,) = driver.run(url_of(server), [Ask(leave=2)])
        assert server.closed_after(began) < 10
    assert outcome.problem is None
    assert outcome.names == ["message_start", "delta"]
