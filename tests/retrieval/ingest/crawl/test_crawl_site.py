"""One site with every kind of page, crawled twice through the real child process."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator

import brotli
import pytest

from retrieval.ingest.base import Fetched
from tests.retrieval.ingest.crawl.conftest import (
    Crawled,
    Handler,
    Page,
    Routes,
    Server,
    crawled,
    linking,
    redirect,
    serving,
)

SHIFT_JIS = "<meta charset=shift_jis><p>こんにちは</p>".encode("shift_jis")
TEXT = "<p>the same words</p>"

START = linking(
    "a",
    "/docs/a/",
    "/docs/a#x",
    "/docs/a?utm_source=y",
    "twin",
    "twin/",
    "moved",
    "away",
    "gone",
    "broken",
    "flaky",
    "cut",
    "manual.pdf",
    "notes.txt",
    "readme.md",
    "blob",
    "data.json",
    "film",
    "picture.png",
    "hidden",
    "leaf-only",
    "meta-nofollow",
    "private/page",
    "encoded/gzip",
    "encoded/br",
    "encoded/deflate",
    "sjis",
    "unlabelled",
    "conditional",
    "/outside",
    "http://localhost:9/elsewhere",
    "mailto:a@b.c",
)


def conditional(handler: Handler) -> None:
    if handler.headers.get("If-None-Match") == '"v1"':
        handler.answer(Page(status=304))
    else:
        answer = linking("only-from-conditional")
        handler.answer(
            Page(
                answer.body,
                headers={"ETag": '"v1"', "Last-Modified": "Mon, 01 Jan 2024 00:00:00 GMT"},
            )
        )


def flaky(handler: Handler) -> None:
    first = handler.server.paths().count("/docs/flaky") == 1
    handler.answer(Page(status=503, headers={"Retry-After": "0"}) if first else linking())


def cut(handler: Handler) -> None:
    handler.close_connection = True  # without an answer


def film(handler: Handler) -> None:
    """A body that never ends: reading it would hang the crawl."""
    handler.send_response(200)
    handler.send_header("Content-Type", "video/mp4")
    handler.end_headers()
    handler.server.released.wait(30)


def encoded(encoding: str, body: bytes) -> Page:
    return Page(body, headers={"Content-Encoding": encoding})


ROUTES: Routes = {
    "/robots.txt": Page("User-agent: *\nDisallow: /docs/private/", type="text/plain"),
    "/docs/": START,
    "/docs/a": redirect("/docs/a/", 301),
    "/docs/a/": linking("../b?x=1&fbclid=2", "/docs/"),
    "/docs/b?x=1": linking(),
    "/docs/twin": Page(TEXT),
    "/docs/twin/": Page(TEXT),
    "/docs/moved": redirect("moved-to", 308),
    "/docs/moved-to": linking(text="moved"),
    "/docs/away": redirect("http://169.254.169.254/latest/meta-data/"),
    "/docs/gone": Page(status=410),
    "/docs/broken": Page(status=500),
    "/docs/flaky": flaky,
    "/docs/cut": cut,
    "/docs/manual.pdf": Page(b"%PDF-1.7 \0\xff", type="application/pdf"),
    "/docs/notes.txt": Page("notes", type="text/plain; charset=ISO-8859-1"),
    "/docs/readme.md": Page("# Read", type="text/plain"),
    "/docs/blob": Page(b"%PDF-1.4", type="application/octet-stream"),
    "/docs/data.json": Page("{}", type="application/json"),
    "/docs/film": film,
    "/docs/hidden": Page(
        START.body + '<a href="behind-hidden">x</a>', headers={"X-Robots-Tag": "noindex"}
    ),
    "/docs/behind-hidden": linking(),
    "/docs/leaf-only": Page(
        '<a rel="nofollow" href="never-1">x</a><base href="/docs/base/"><a href="based">y</a>'
    ),
    "/docs/base/based": linking(),
    "/docs/meta-nofollow": Page('<meta name="robots" content="nofollow"><a href="never-2">x</a>'),
    "/docs/private/page": linking(),
    "/docs/encoded/gzip": encoded("gzip", gzip.compress(TEXT.encode())),
    "/docs/encoded/br": encoded("br", brotli.compress(TEXT.encode())),
    "/docs/encoded/deflate": encoded("deflate", zlib.compress(TEXT.encode())),
    "/docs/sjis": Page(SHIFT_JIS, type="text/html"),
    "/docs/unlabelled": Page("<!doctype html><p>words", type=""),
    "/docs/conditional": conditional,
    "/docs/only-from-conditional": linking(),
    "/outside": linking(),
}  # fmt: skip


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving(ROUTES) as running:
        yield running


@pytest.fixture(scope="module")
def first(server: Server) -> Crawled:
    return crawled(server.url("/docs/"))


@pytest.fixture(scope="module")
def asked(server: Server, first: Crawled) -> list[str]:
    return server.paths()


def page(crawl: Crawled, server: Server, path: str) -> Fetched:
    return crawl.pages[server.url(path)]


def reason(crawl: Crawled, server: Server, path: str) -> tuple[str, bool, bool]:
    skipped = crawl.skipped[server.url(path)]
    return skipped.reason, skipped.gone, skipped.transient


def test_the_crawl_is_complete(first: Crawled) -> None:
    assert first.end.complete
    assert first.end.failure is None


def test_pages_are_fetched_once_whatever_links_spell(first: Crawled, asked: list[str]) -> None:
    assert asked.count("/docs/a/") == 1
    assert asked.count("/docs/a") == 1
    assert len({item.url for item in first.items}) == len(first.items)


def test_a_redirect_gives_the_final_address_and_the_asked_one(
    first: Crawled, server: Server
) -> None:
    moved = page(first, server, "/docs/moved-to")
    assert moved.requested_url == server.url("/docs/moved")
    assert server.url("/docs/moved") not in first.pages


def test_slash_twins_with_one_content_are_one_page(first: Crawled, server: Server) -> None:
    found = {server.url("/docs/twin"), server.url("/docs/twin/")}
    assert len(found & set(first.pages)) == 1
    assert len(found & set(first.skipped)) == 1


def test_tracking_parameters_are_not_asked_for(asked: list[str]) -> None:
    assert "/docs/b?x=1" in asked
    assert not [path for path in asked if "utm_" in path or "fbclid" in path]


def test_nothing_outside_the_prefix_or_on_another_host_is_asked_for(asked: list[str]) -> None:
    assert {path for path in asked if not path.startswith("/docs/")} == {"/robots.txt"}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/docs/away", ("redirects to another site", False, False)),
        ("/docs/gone", ("answered 410", True, False)),
        ("/docs/broken", ("answered 500", False, True)),
        ("/docs/cut", ("connection failed", False, True)),
        ("/docs/data.json", ("unsupported content type", False, False)),
        ("/docs/film", ("unsupported content type", False, False)),
        ("/docs/picture.png", ("unsupported file type", False, False)),
        ("/docs/private/page", ("robots.txt disallows", False, False)),
    ],
)
def test_what_is_not_fetched_is_told_with_a_reason(
    first: Crawled, server: Server, path: str, expected: tuple[str, bool, bool]
) -> None:
    assert reason(first, server, path) == expected


def test_a_disallowed_page_is_not_asked_for(asked: list[str]) -> None:
    assert "/docs/private/page" not in asked


def test_an_error_is_tried_again(first: Crawled, server: Server, asked: list[str]) -> None:
    assert page(first, server, "/docs/flaky").media_type == "text/html"
    assert asked.count("/docs/flaky") == asked.count("/docs/broken") == 2


@pytest.mark.parametrize(
    ("path", "media_type", "charset"),
    [
        ("/docs/", "text/html", "utf-8"),
        ("/docs/manual.pdf", "application/pdf", None),
        ("/docs/notes.txt", "text/plain", "ISO-8859-1"),
        ("/docs/readme.md", "text/markdown", None),
        ("/docs/blob", "application/pdf", None),
        ("/docs/unlabelled", "text/html", None),
        ("/docs/sjis", "text/html", None),
    ],
)
def test_documents_arrive_with_their_type_and_declared_charset(
    first: Crawled, server: Server, path: str, media_type: str, charset: str | None
) -> None:
    found = page(first, server, path)
    assert (found.media_type, found.charset) == (media_type, charset)


def test_bodies_arrive_byte_for_byte(first: Crawled, server: Server) -> None:
    assert page(first, server, "/docs/manual.pdf").body == b"%PDF-1.7 \0\xff"
    assert page(first, server, "/docs/sjis").body == SHIFT_JIS


@pytest.mark.parametrize("encoding", ["gzip", "br", "deflate"])
def test_content_encodings_are_undone(first: Crawled, server: Server, encoding: str) -> None:
    assert page(first, server, f"/docs/encoded/{encoding}").body == TEXT.encode()


def test_a_document_knows_the_page_that_links_to_it(first: Crawled, server: Server) -> None:
    assert page(first, server, "/docs/manual.pdf").linked_from == server.url("/docs/")
    assert page(first, server, "/docs/").linked_from is None


def test_noindex_by_header_is_told_and_its_links_are_followed(
    first: Crawled, server: Server
) -> None:
    assert page(first, server, "/docs/hidden").noindex
    assert server.url("/docs/behind-hidden") in first.pages
    assert not page(first, server, "/docs/").noindex


def test_nofollow_is_honoured_on_links_and_on_pages(asked: list[str]) -> None:
    assert not [path for path in asked if "never" in path]


def test_links_follow_the_base_element(first: Crawled, server: Server) -> None:
    assert server.url("/docs/base/based") in first.pages


def test_the_crawler_says_who_it_is(server: Server, first: Crawled) -> None:
    assert {headers["user-agent"] for _, headers in server.asked} == {
        "FastragSite/0.1 (+https://example.org/fastrag-site)"
    }


def test_validators_are_remembered_and_sent_and_an_unchanged_page_is_followed(
    server: Server, first: Crawled
) -> None:
    before = len(server.asked)
    second = crawled(server.url("/docs/"), known=first.known())
    asked = dict(server.asked[before:])
    assert asked["/docs/conditional"]["if-none-match"] == '"v1"'
    assert asked["/docs/conditional"]["if-modified-since"] == "Mon, 01 Jan 2024 00:00:00 GMT"
    assert "if-none-match" not in asked["/docs/"]
    unchanged = page(second, server, "/docs/conditional")
    assert unchanged.not_modified
    assert unchanged.etag == '"v1"'
    assert unchanged.body == b""
    assert server.url("/docs/only-from-conditional") in second.pages
    assert set(second.pages) == set(first.pages)
