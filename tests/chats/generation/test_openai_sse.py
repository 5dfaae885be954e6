"""The event decoder: any split of the bytes gives the same events."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chats.generation.errors import ModelError
from chats.generation.openai_compatible import sse
from chats.generation.openai_compatible.sse import Event, EventDecoder

STREAM = (
    ': PROCESSING\r\n\r\nevent: ping\ndata: \n\nid: 7\n\ndata:{"a":"😀"}\r\r'
    'data: {"b":\r\ndata: "\u2028\u0085"}\r\n\r\nretry: 5\n\n'
    "event: error\ndata: x\n\ndata: [DONE]\n\n"
).encode()
EVENTS = [
    Event(name="", data='{"a":"😀"}'),
    Event(name="", data='{"b":\n"\u2028\u0085"}'),
    Event(name="error", data="x"),
    Event(name="", data="[DONE]"),
]


def decode(parts: Iterable[bytes]) -> list[Event]:
    decoder = EventDecoder()
    events = [event for part in parts for event in decoder.feed(part)]
    return [*events, *decoder.end()]


def test_every_two_way_split_gives_the_same_events() -> None:
    for cut in range(len(STREAM) + 1):
        assert decode([STREAM[:cut], STREAM[cut:]]) == EVENTS, cut


def test_single_bytes_give_the_same_events() -> None:
    assert decode(bytes([byte]) for byte in STREAM) == EVENTS


@given(st.lists(st.integers(0, len(STREAM)), max_size=12))
def test_any_split_gives_the_same_events(cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), len(STREAM)]
    assert decode(STREAM[a:b] for a, b in pairwise(edges)) == EVENTS


@given(st.binary(max_size=200), st.integers(0, 200))
def test_arbitrary_bytes_are_decoded_or_refused(data: bytes, cut: int) -> None:
    with suppress(ModelError):
        decode([data[:cut], data[cut:]])


def test_a_byte_order_mark_is_no_part_of_the_first_line() -> None:
    assert decode([b'\xef\xbb\xbfdata: {"a":1}\n\n']) == [Event(name="", data='{"a":1}')]


def test_an_event_is_there_as_soon_as_its_blank_line_is() -> None:
    decoder = EventDecoder()
    assert list(decoder.feed(b"data: 1\r\r")) == [Event(name="", data="1")]
    assert list(decoder.feed(b"\ndata: 2\n")) == []
    assert list(decoder.feed(b"\n")) == [Event(name="", data="2")]


def test_a_last_event_without_its_blank_line_counts() -> None:
    assert decode([b"data: 1\n\ndata: 2"]) == [Event(name="", data="1"), Event(name="", data="2")]


def test_a_lone_json_document_is_one_event() -> None:
    assert decode([b'\n {"a":\n\n', b'"data: x"}\n']) == [
        Event(name="", data='{"a":\n\n"data: x"}')
    ]


@pytest.mark.parametrize("shape", [b"data: %b", b"data: %b\n" * 3, b"{%b"])
def test_an_event_beyond_the_bound_is_refused(
    shape: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sse, "EVENT_MAX_BYTES", 1_000)
    data = shape.replace(b"%b", b"x" * 500)
    with pytest.raises(ModelError):
        decode([data, b"x" * 600])


def test_bytes_that_are_no_utf_8_are_refused() -> None:
    with pytest.raises(ModelError):
        decode([b"data: \xff\n\n"])
