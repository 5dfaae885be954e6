"""Bytes to events, in Python and in TypeScript (Framing and parsing)."""

from __future__ import annotations

import base64
import json
import subprocess
from dataclasses import asdict
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastrag_client import ConnectionLost, EventStreamDecoder, ServerSentEvent
from fastrag_client.decoder import MOST_CHARS
from tests.clients.drivers import NODE, TypeScript

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


def test_an_event_without_end_is_refused() -> None:
    decoder = EventStreamDecoder()
    with pytest.raises(ConnectionLost, match="too long"):
        for _ in range(20):
            decoder.feed(b"x" * (MOST_CHARS // 16))


def test_a_stream_may_be_longer_than_any_event_of_it() -> None:
    decoder = EventStreamDecoder()
    part = b"data: " + b"x" * (MOST_CHARS // 4) + b"\n\n"
    assert sum(len(decoder.feed(part)) for _ in range(8)) == 8


SPLIT = """
import { EventStreamDecoder } from "%s/decoder.js";
const bytes = Buffer.from(process.argv[1], "base64");
const decoded = (...chunks) => {
  const decoder = new EventStreamDecoder();
  return JSON.stringify(chunks.flatMap((chunk) => decoder.feed(chunk)));
};
const found = new Set([decoded(...Array.from(bytes, (byte) => Uint8Array.of(byte)))]);
for (let cut = 0; cut <= bytes.length; cut++) {
  found.add(decoded(bytes.subarray(0, cut), bytes.subarray(cut)));
}
let refused = null;
const endless = new EventStreamDecoder();
try {
  for (let turn = 0; turn < 20; turn++) endless.feed(new Uint8Array(1 << 20).fill(120));
} catch (error) {
  refused = error.name;
}
console.log(JSON.stringify({ found: [...found].map(JSON.parse), refused }));
"""


def test_typescript_reads_the_same_at_every_split_position(typescript: TypeScript) -> None:
    encoded = base64.b64encode(FRAMES).decode()
    command = [NODE, "--input-type=module", "--eval", SPLIT % typescript.dist, encoded]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    told = json.loads(done.stdout)
    assert told["found"] == [[asdict(event) for event in EVENTS]]
    assert told["refused"] == "ConnectionLost"
