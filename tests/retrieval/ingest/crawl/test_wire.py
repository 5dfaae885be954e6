from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.ingest.base import CrawlEnd, CrawlRequest, Fetched, Known, Skipped
from retrieval.ingest.crawl import wire

ITEMS: list[Fetched | Skipped | CrawlEnd] = [
    Fetched(
        url="http://h/é\u2028",
        requested_url="http://h/",
        media_type="text/html",
        charset=None,
        body=b"\0\xff\r\n{}",
        etag='"1"',
        noindex=True,
        linked_from="http://h/p",
        depth=2,
        links=("http://h/a", "http://h/b"),
    ),
    Skipped(url="http://h/x", reason="answered 404", gone=True),
    CrawlEnd(complete=False, failure="why"),
]
REQUEST = CrawlRequest(
    kind="site",
    location="http://h/",
    depth=3,
    max_pages=5,
    trusted_host="h",
    known={"http://h/a": Known(etag="e", last_modified="m", links=("http://h/b",))},
)
OPTIONS = wire.Options(
    user_agent="FastragSite/0.1 (+https://example.org)",
    max_bytes=1,
    timeout_seconds=2.0,
    concurrency=3,
    retries=4,
    retry_seconds=5.0,
    log_level=20,
)


@given(st.integers(min_value=1, max_value=400))
def test_frames_survive_every_way_of_being_cut(size: int) -> None:
    stream = b"".join(wire.encode_item(item) for item in ITEMS)
    decoder = wire.Decoder()
    found = [
        wire.decode_item(frame)
        for start in range(0, len(stream), size)
        for frame in decoder.feed(stream[start : start + size])
    ]
    assert found == ITEMS


def test_a_job_arrives_whole() -> None:
    assert wire.read_job(wire.encode_job(REQUEST, OPTIONS)) == (REQUEST, OPTIONS)


def test_a_job_that_ends_early_is_an_error() -> None:
    frames = list(wire.encode_job(REQUEST, OPTIONS))
    with pytest.raises(wire.BadFrame):
        wire.read_job(frames[:-1])


@pytest.mark.parametrize(
    "damage",
    [
        b"\xff" * 8,
        b"\0\0\0\4\0\0\0\0null",
        b"\0\0\0\2\0\0\0\0[}",
        b"Traceback (most recent call last):\n",
    ],
)
def test_bytes_that_are_no_frame_are_an_error(damage: bytes) -> None:
    with pytest.raises(wire.BadFrame):
        list(wire.Decoder().feed(damage))


@pytest.mark.parametrize("frame", [wire.encode("fetched", {}), wire.encode("who", {})])
def test_a_frame_that_is_no_item_is_an_error(frame: bytes) -> None:
    (decoded,) = wire.Decoder().feed(frame)
    with pytest.raises(wire.BadFrame):
        wire.decode_item(decoded)


def test_the_robots_name_is_the_product_of_the_user_agent() -> None:
    assert OPTIONS.robot == "FastragSite"
