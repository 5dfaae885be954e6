"""Private addresses are refused where the connection is made; the named host is the exception."""

from __future__ import annotations

import pytest

from tests.retrieval.ingest.crawl.conftest import crawled, linking, redirect, serving


@pytest.mark.parametrize(
    ("host", "trusted"),
    [
        ("127.0.0.1", None),
        ("localhost", "127.0.0.1"),
        ("2130706433", None),
        ("[::ffff:127.0.0.1]", "127.0.0.1"),
    ],
)
def test_a_private_host_that_was_not_named_is_never_connected_to(
    host: str, trusted: str | None
) -> None:
    with serving({"/": linking()}) as server:
        crawl = crawled(server.url(host=host), trusted_host=trusted)
    assert server.asked == []
    assert not crawl.pages
    assert crawl.end.failure is not None
    assert "private network address" in crawl.end.failure


def test_a_private_host_that_was_named_is_fetched_however_it_is_spelt() -> None:
    with serving({"/": linking()}) as server:
        assert len(crawled(server.url(host="localhost"), trusted_host="LocalHost.").pages) == 1


def test_a_single_page_that_redirects_into_a_private_network_is_not_followed() -> None:
    with serving({}) as inside, serving({}) as server:
        server.routes["/p"] = redirect(inside.url("/secret", host="localhost"))
        crawl = crawled(server.url("/p"), kind="url")
    assert inside.asked == []
    assert crawl.end.failure is not None
    assert "redirects to another site" in crawl.end.failure


def test_a_location_that_is_no_address_fails_without_a_process() -> None:
    crawl = crawled("http://user:secret@h/")
    assert crawl.end.failure is not None
    assert "user name" in crawl.end.failure
    assert crawl.peak_bytes == 0
