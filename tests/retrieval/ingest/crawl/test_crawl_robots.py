"""robots.txt in all its states."""

from __future__ import annotations

import logging
from itertools import pairwise
from time import monotonic

import pytest

from retrieval.ingest.crawl.robots import parse_rules
from tests.retrieval.ingest.crawl.conftest import (
    Handler,
    Page,
    Routes,
    crawled,
    linking,
    redirect,
    serving,
)

RULES = b"\xef\xbb\xbfUser-agent: *\nDisallow: /x\n\nUser-agent: FastragSite\nDisallow: /y\n"


@pytest.mark.parametrize(
    ("body", "content_type", "path", "allowed"),
    [
        (RULES, "text/plain", "/x", True),
        (RULES, "text/plain", "/y", False),
        (RULES, "", "/y", False),
        (RULES, "text/html", "/y", True),
        (b"<!doctype html><pre>" + RULES, "text/plain", "/y", True),
        (b"", "text/plain", "/y", True),
        (b"\0\xff garbage", "text/plain", "/y", True),
        (b"User-agent: *\nDisallow: /a/*.pdf$\nAllow: /a/ok", "text/plain", "/a/b.pdf", False),
    ],
)
def test_rules_are_read_from_rule_files_alone(
    body: bytes, content_type: str, path: str, allowed: bool
) -> None:
    rules = parse_rules(body, content_type=content_type)
    assert rules.can_fetch(f"http://h{path}", "FastragSite") is allowed


def test_an_unreachable_robots_txt_is_waited_for_then_the_crawl_fails(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with serving({"/": linking("a"), "/robots.txt": Page(status=503)}) as server:
        crawl = crawled(server.url())
    assert set(server.paths()) == {"/robots.txt"}
    assert len(server.paths()) == 3  # tries + 1
    assert crawl.end.failure == "robots.txt answered 503"
    assert not crawl.end.complete
    assert not crawl.pages
    waits = [r for r in caplog.records if "waiting" in r.getMessage()]
    assert len(waits) == 2
    assert {(r.name, r.levelno) for r in waits} == {
        ("retrieval.ingest.crawl.robots", logging.WARNING)
    }


def test_robots_txt_may_recover_move_and_ask_for_a_slow_pace(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, logger="retrieval")
    times: list[float] = []

    def robots(handler: Handler) -> None:
        if handler.server.paths().count("/robots.txt") == 1:
            handler.server.released.wait(2.0)  # longer than the time-out
        else:
            handler.answer(redirect("/rules"))

    def page(handler: Handler) -> None:
        times.append(monotonic())
        handler.answer(linking("/1", "/2", "/no"))

    routes: Routes = {
        "/robots.txt": robots,
        "/rules": Page("User-agent: *\nCrawl-delay: 0.4\nDisallow: /no", type="text/plain"),
        "/": page,
        "/1": page,
        "/2": page,
        "/no": page,
    }
    with serving(routes) as server:
        crawl = crawled(server.url(), CRAWL_TIMEOUT_SECONDS=1.0)
    assert [len(crawl.pages), len(times)] == [3, 3]
    assert crawl.skipped[server.url("/no")].reason == "robots.txt disallows"
    assert min(later - earlier for earlier, later in pairwise(times)) > 0.2
    assert "asks for 0.4 s between requests" in caplog.text
    assert "robots.txt timed out; waiting" in caplog.text


def test_a_disallowed_start_page_fails_the_crawl() -> None:
    rules = Page("User-agent: *\nDisallow: /", type="text/plain")
    with serving({"/": linking("a"), "/robots.txt": rules}) as server:
        crawl = crawled(server.url())
    assert crawl.end.failure == f"{server.url()}: robots.txt disallows"
    assert server.paths() == ["/robots.txt"]


def test_a_robots_txt_that_redirects_into_a_private_network_fails_the_crawl() -> None:
    with serving({}) as inside, serving({"/": linking()}) as server:
        server.routes["/robots.txt"] = redirect(inside.url("/robots.txt", host="localhost"))
        crawl = crawled(server.url())
    assert inside.paths() == []
    assert crawl.end.failure == "robots.txt could not be read: private network address"
    assert server.paths() == ["/robots.txt"]
