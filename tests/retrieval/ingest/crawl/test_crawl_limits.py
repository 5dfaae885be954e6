"""Hostile and slow bodies: capped, timed out, and memory stays flat."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator

import brotli
import pytest
from backports import zstd

from tests.retrieval.ingest.crawl.conftest import (
    Crawled,
    Handler,
    Page,
    Server,
    crawled,
    linking,
    serving,
)

CAP = 2_000_000
MEMBER = gzip.compress(bytes(1_000_000))
BOMBS = {
    "gzip": MEMBER * 1_000,  # 1 MB that unpacks to 1 GB
    "deflate": zlib.compress(bytes(100_000_000)),
    "br": brotli.compress(bytes(100_000_000), quality=1),
    "zstd": zstd.compress(bytes(100_000_000)),
    "gzip, gzip": gzip.compress(MEMBER * 1_000),
}


def endless(handler: Handler) -> None:
    """No Content-Length, and no end."""
    handler.send_response(200)
    handler.send_header("Content-Type", "text/html")
    handler.send_header("Connection", "close")
    handler.end_headers()
    while not handler.server.released.is_set():
        handler.wfile.write(b"<p>words</p>" * 5_000)


def silent(handler: Handler) -> None:
    handler.server.released.wait(30)


def dripping(handler: Handler) -> None:
    """A byte now and then keeps the connection busy and never gets anywhere."""
    handler.send_response(200)
    handler.send_header("Content-Type", "text/html")
    handler.end_headers()
    while not handler.server.released.wait(0.05):
        handler.wfile.write(b"x")


def truncated(handler: Handler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Type", "text/html")
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b"<p>")
    handler.close_connection = True


def chunked(handler: Handler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Type", "text/html")
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    handler.wfile.write(b"3\r\n<p>\r\n2\r\nhi\r\n0\r\n\r\n")


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    names = [f"bomb/{number}" for number in range(len(BOMBS))]
    hrefs = [
        *names,
        "endless",
        "large",
        "declared",
        "silent",
        "dripping",
        "truncated",
        "chunked",
        "damaged",
    ]
    routes = {
        "/": linking(*hrefs, "fine"),
        "/fine": linking(),
        "/endless": endless,
        "/large": Page(b"x" * (CAP + 1)),
        "/declared": Page(b"x" * CAP),
        "/silent": silent,
        "/dripping": dripping,
        "/truncated": truncated,
        "/chunked": chunked,
        "/damaged": Page(b"not gzip", headers={"Content-Encoding": "gzip"}),
    }
    bombs = {
        f"/{name}": Page(body, headers={"Content-Encoding": encoding})
        for name, (encoding, body) in zip(names, BOMBS.items(), strict=True)
    }
    with serving({**routes, **bombs}) as running:
        yield running


@pytest.fixture(scope="module")
def crawl(server: Server) -> Crawled:
    return crawled(server.url(), CRAWL_MAX_BYTES=CAP, CRAWL_TIMEOUT_SECONDS=2.0, CRAWL_RETRIES=0)


@pytest.mark.parametrize("number", range(len(BOMBS)))
def test_a_small_body_that_unpacks_to_a_large_one_is_too_large(
    crawl: Crawled, server: Server, number: int
) -> None:
    assert crawl.skipped[server.url(f"/bomb/{number}")].reason == "too large"


@pytest.mark.parametrize("path", ["/endless", "/large"])
def test_the_cap_counts_received_bytes_with_and_without_a_length(
    crawl: Crawled, server: Server, path: str
) -> None:
    skipped = crawl.skipped[server.url(path)]
    assert (skipped.reason, skipped.transient, skipped.gone) == ("too large", False, False)


def test_a_body_within_the_cap_arrives_whole(crawl: Crawled, server: Server) -> None:
    assert len(crawl.pages[server.url("/declared")].body) == CAP
    assert crawl.pages[server.url("/chunked")].body == b"<p>hi"


@pytest.mark.parametrize("path", ["/silent", "/dripping"])
def test_a_slow_page_times_out_for_now(crawl: Crawled, server: Server, path: str) -> None:
    skipped = crawl.skipped[server.url(path)]
    assert (skipped.reason, skipped.transient) == ("timed out", True)


def test_a_body_that_breaks_off_is_not_taken_for_the_page(crawl: Crawled, server: Server) -> None:
    skipped = crawl.skipped[server.url("/truncated")]
    assert (skipped.reason, skipped.transient) == ("connection failed", True)


def test_a_damaged_encoding_is_told(crawl: Crawled, server: Server) -> None:
    skipped = crawl.skipped[server.url("/damaged")]
    assert (skipped.reason, skipped.transient) == ("could not be read", True)


def test_the_other_pages_are_fetched_and_memory_stays_flat(crawl: Crawled, server: Server) -> None:
    assert server.url("/fine") in crawl.pages
    assert crawl.end.complete
    assert 0 < crawl.peak_bytes < 200_000_000
