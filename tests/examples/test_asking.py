"""The example client: its decoder, its links, and what it prints (Framing and parsing)."""

from __future__ import annotations

import io
import json
from itertools import pairwise
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples.asking import EventStreamDecoder, ServerSentEvent, ask, link, refusal, show

FRAMES = (
    ": keep-alive\n\n"
    'event: message_start\ndata: {"chat_id":"c"}\n\n'
    'event: sources\r\ndata: {"t":"a\u2028b\u2029c\u0085d\x0b\x0ce"}\r\n\r\n'
    "event: delta\rdata: 😀 é 漢字\r\r"
    "id: 7\nretry: 10\nunknown\ndata: one\ndata:two\n\n"
    "data:{}\n\n"
).encode()
EVENTS = [
    ServerSentEvent("message_start", '{"chat_id":"c"}'),
    ServerSentEvent("sources", '{"t":"a\u2028b\u2029c\u0085d\x0b\x0ce"}'),
    ServerSentEvent("delta", "😀 é 漢字"),
    ServerSentEvent("message", "one\ntwo"),
    ServerSentEvent("message", "{}"),
]


def decode(*chunks: bytes) -> list[ServerSentEvent]:
    decoder = EventStreamDecoder()
    return [event for chunk in chunks for event in decoder.feed(chunk)]


def test_every_single_split_position_gives_the_same_events() -> None:
    for cut in range(len(FRAMES) + 1):
        assert decode(FRAMES[:cut], FRAMES[cut:]) == EVENTS


def test_single_bytes_give_the_same_events() -> None:
    assert decode(*(bytes([byte]) for byte in FRAMES)) == EVENTS


@given(st.lists(st.integers(0, len(FRAMES)), max_size=12))
def test_any_set_of_split_positions_gives_the_same_events(cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), len(FRAMES)]
    pieces = [FRAMES[start:end] for start, end in pairwise(edges)]
    assert decode(*pieces) == EVENTS


@given(
    st.lists(st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]))),
    st.sampled_from(["\n", "\r", "\r\n"]),
    st.integers(1, 7),
)
def test_any_text_survives_any_line_end_and_read_size(
    texts: list[str], end: str, size: int
) -> None:
    stream = "".join(f"event: e{end}data: {text}{end}{end}" for text in texts).encode()
    chunks = [stream[at : at + size] for at in range(0, len(stream), size)]
    assert decode(*chunks) == [ServerSentEvent("e", text) for text in texts]


def test_a_large_sources_event_in_small_reads_is_one_event() -> None:
    data = json.dumps({"sources": ["x" * 100] * 400})
    stream = f"event: sources\ndata: {data}\n\n".encode()
    chunks = [stream[at : at + 1024] for at in range(0, len(stream), 1024)]
    assert decode(*chunks) == [ServerSentEvent("sources", data)]


def test_a_byte_order_mark_is_skipped() -> None:
    assert decode(b"\xef\xbb", b"\xbfdata: x\n\n") == [ServerSentEvent("message", "x")]


def test_an_unfinished_event_is_not_an_event() -> None:
    assert decode(b"event: delta\ndata: x\n") == []


def test_a_blank_line_without_data_forgets_the_event_name() -> None:
    assert decode(b"event: delta\n\ndata: x\n\n") == [ServerSentEvent("message", "x")]


SOURCE: dict[str, Any] = {
    "url": "https://example.org/page",
    "title": "Page",
    "positions": [1],
    "fragments": [],
}


@pytest.mark.parametrize(
    ("fragments", "expected"),
    [
        ([], ""),
        ([{"start": "one", "end": None}], "#:~:text=one"),
        (
            [{"start": "multi-agent", "end": "a, b & c"}],
            "#:~:text=multi%2Dagent,a%2C%20b%20%26%20c",
        ),
        (
            [{"start": "a", "end": "b"}, {"start": "c", "end": None}],
            "#:~:text=a,b&text=c",
        ),
    ],
)
def test_a_link_scrolls_to_the_passages(fragments: list[dict[str, Any]], expected: str) -> None:
    assert link(SOURCE | {"fragments": fragments}) == SOURCE["url"] + expected


def test_a_link_keeps_the_anchor_of_its_url() -> None:
    source = SOURCE | {"url": "https://e.org/p#s", "fragments": [{"start": "a", "end": None}]}
    assert link(source) == "https://e.org/p#s:~:text=a"


def events(*pairs: tuple[str, Any]) -> list[ServerSentEvent]:
    return [ServerSentEvent(name, json.dumps(data)) for name, data in pairs]


ANSWER = events(
    ("message_start", {"chat_id": "c1", "user_message_id": "u", "message_id": "m"}),
    ("sources", {"message_id": "m", "sources": [SOURCE]}),
    ("delta", {"message_id": "m", "delta": {"type": "text", "text": "Hello "}}),
    ("delta", {"message_id": "m", "delta": {"type": "text", "text": "you."}}),
    ("message_end", {"message_id": "m", "finish_reason": "stop"}),
)


def test_it_prints_sources_then_text_then_the_finish_reason() -> None:
    out = io.StringIO()
    assert show(iter(ANSWER), out) == ("c1", "stop")
    assert out.getvalue() == "[1] Page\n    https://example.org/page\n\nHello you.\n(stop)\n"


def test_it_prints_the_error_of_a_failed_answer() -> None:
    end = {
        "message_id": "m",
        "finish_reason": "error",
        "error": {"code": "TIMEOUT", "message": "M"},
    }
    out = io.StringIO()
    assert show(iter(events(("message_end", end))), out) == (None, "error")
    assert out.getvalue() == "\n(error: TIMEOUT, M)\n"


def test_it_survives_unknown_events_and_unknown_kinds_of_delta() -> None:
    odd = [
        ServerSentEvent("usage", "not json"),
        *events(("delta", {"message_id": "m", "delta": {"type": "image", "data": "…"}})),
    ]
    out = io.StringIO()
    show(iter([*ANSWER[:2], *odd, *ANSWER[2:]]), out)
    assert out.getvalue().endswith("Hello you.\n(stop)\n")


def test_a_stream_that_breaks_off_counts_as_interrupted() -> None:
    assert show(iter(ANSWER[:3]), io.StringIO()) == ("c1", "interrupted")


def serve(response: httpx.Response) -> tuple[httpx.Client, list[httpx.Request]]:
    seen: list[httpx.Request] = []

    def handle(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return response

    transport = httpx.MockTransport(handle)
    return httpx.Client(base_url="http://test", transport=transport), seen


def test_a_follow_up_goes_to_the_chat_with_the_csrf_token() -> None:
    client, seen = serve(httpx.Response(200, content=b"event: message_end\ndata: {}\n\n"))
    client.cookies.set("csrftoken", "token")
    assert list(ask(client, "And?", "c1")) == [ServerSentEvent("message_end", "{}")]
    assert seen[0].url.path == "/api/chats/c1/messages"
    assert seen[0].headers["X-CSRFToken"] == "token"
    assert json.loads(seen[0].content) == {"content": "And?"}


def test_a_refusal_is_told_in_the_servers_words() -> None:
    envelope = {"error": {"code": "CHAT_BUSY", "message": "Wait."}}
    client, _ = serve(httpx.Response(409, json=envelope))
    with pytest.raises(httpx.HTTPStatusError) as caught:
        list(ask(client, "Hi", None))
    assert refusal(caught.value.response) == "409 CHAT_BUSY: Wait."


def test_a_refusal_that_is_not_ours_is_told_by_its_status() -> None:
    assert refusal(httpx.Response(502, content=b"<html>")) == "502 Bad Gateway"
