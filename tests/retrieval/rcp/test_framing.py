"""Lines of stdio and events of SSE, however the bytes were split."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.rcp.transports import sse
from retrieval.rcp.transports.lines import LineSplitter
from retrieval.rcp.transports.sse import EventDecoder

payloads = st.lists(
    st.text(
        alphabet=st.characters(codec="utf-8", exclude_characters="\r\n"), min_size=1, max_size=30
    ).map(lambda text: f'"{text}\u2028\x85😀"'.encode()),
    max_size=6,
)


def chop(stream: bytes, cuts: list[int]) -> list[bytes]:
    places = sorted({cut % (len(stream) + 1) for cut in cuts} | {0, len(stream)})
    return [stream[a:b] for a, b in pairwise(places)]


@settings(max_examples=40)
@given(payloads, st.lists(st.integers(0, 10_000), max_size=8), st.sampled_from(["\n", "\r\n"]))
def test_lines_are_the_same_for_every_split(lines: list[bytes], cuts: list[int], end: str) -> None:
    stream = b"".join(line + end.encode() for line in lines)
    splitter = LineSplitter(1_000)
    got = [line for chunk in chop(stream, cuts) for line in splitter.feed(chunk)]
    assert [line.strip() for line in got if line] == lines
    assert splitter.end() == []


def test_a_line_over_the_limit_is_none_wherever_it_is_cut_and_the_next_is_whole() -> None:
    for size in (1, 3, 10, 100):
        splitter = LineSplitter(10)
        stream = b"x" * 50 + b"\nshort\n" + b"y" * 11 + b"\n" + b"z" * 10 + b"\n"
        chunks = [stream[i : i + size] for i in range(0, len(stream), size)]
        got = [line for chunk in chunks for line in splitter.feed(chunk)]
        assert [line and line.strip() for line in got] == [None, b"short", None, b"z" * 10]


def test_a_cut_off_line_comes_at_the_end() -> None:
    splitter = LineSplitter(10)
    assert splitter.feed(b"abc") == []
    assert splitter.end() == [b"abc"]
    assert splitter.feed(b"d" * 20) == []
    assert splitter.end() == [None]


@given(
    payloads, st.lists(st.integers(0, 10_000), max_size=8), st.sampled_from(["\n", "\r\n", "\r"])
)
def test_events_are_the_same_for_every_split(
    events: list[bytes], cuts: list[int], end: str
) -> None:
    stream = b": hello\n\n" + b"".join(map(sse.encode, events)) + sse.KEEP_ALIVE
    stream = stream.replace(b"\n", end.encode()) + end.encode()
    decoder = EventDecoder()
    assert [event for chunk in chop(stream, cuts) for event in decoder.feed(chunk)] == events


@pytest.mark.parametrize(
    ("stream", "events"),
    [
        (b"data:{}\n\n", [b"{}"]),
        (b"data: a\ndata: b\n\n", [b"a\nb"]),
        (b"event: x\nid: 1\nretry: 5\ndata: {}\n\n", [b"{}"]),
        (b"data\n\n", [b""]),
        (b"data: cut off", []),
        (b": only a comment\n\n\n", []),
    ],
)
def test_the_fields_of_an_event(stream: bytes, events: list[bytes]) -> None:
    assert EventDecoder().feed(stream) == events


def test_an_event_without_end_is_bounded() -> None:
    decoder = EventDecoder(100)
    with pytest.raises(ValueError, match="too long"):
        for _ in range(20):
            decoder.feed(b"x" * 10)
