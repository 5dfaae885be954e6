from __future__ import annotations

import pytest

from retrieval.ingest.base import CrawlRequest
from retrieval.ingest.crawl.scope import Scope


def scope(location: str, kind: str = "site") -> Scope:
    return Scope.of(CrawlRequest(kind=kind, location=location, depth=1, max_pages=1))


@pytest.mark.parametrize(
    ("location", "inside", "outside"),
    [
        ("https://h/", ["https://h/", "https://h/a"], ["https://www.h/", "https://other/"]),
        (
            "https://h/docs/",
            ["https://h/docs/a", "https://h/docs"],
            ["https://h/docs2", "https://h/"],
        ),
        ("https://h/docs", ["https://h/docs", "https://h/docs/a"], ["https://h/docs-old/"]),
        ("https://h/docs/index.html", ["https://h/docs/x.html"], ["https://h/other"]),
        ("https://h/en/4.2", ["https://h/en/4.2/a"], ["https://h/en/4.1/a"]),
        ("http://h:8000/", ["http://h:8000/x"], ["http://h/x", "https://h:8000/", "http://h:80/"]),
        ("http://[::1]:8000/", ["http://[::1]:8000/x"], ["https://[::1]:8000/x"]),
    ],
)
def test_a_site_is_a_host_and_a_path_prefix(
    location: str, inside: list[str], outside: list[str]
) -> None:
    site = scope(location)
    assert [site.admit(url) for url in inside] == inside
    assert [site.admit(url) for url in outside] == [None] * len(outside)


def test_a_sitemap_is_about_its_whole_host() -> None:
    assert scope("https://h/maps/sitemap.xml", "sitemap").admit("https://h/a") == "https://h/a"


def test_links_to_the_other_scheme_are_asked_for_by_the_sites_own() -> None:
    assert scope("https://h/").admit("http://h/a") == "https://h/a"


@pytest.mark.parametrize("to", ["https://h/", "http://www.h/", "https://www.h/en/"])
def test_the_start_page_may_move_to_https_and_www(to: str) -> None:
    moved = scope("http://h/").moved(to)
    assert moved is not None
    assert moved.admit(to) == to
    assert moved.admit("http://h/a") == f"{to.partition('/en')[0].rstrip('/')}/a"


@pytest.mark.parametrize("to", ["https://other/", "http://h:8000/", "http://sub.h/"])
def test_the_start_page_may_not_move_to_another_site(to: str) -> None:
    assert scope("http://h/").moved(to) is None


def test_another_port_is_another_site_even_with_a_scheme_change() -> None:
    assert scope("http://h:8000/").moved("https://h:8000/") is None


def test_moving_keeps_the_prefix() -> None:
    moved = scope("http://h/docs/").moved("https://h/login")
    assert moved is not None
    assert moved.admit("https://h/login") is None
    assert moved.admit("https://h/docs/a") == "https://h/docs/a"
