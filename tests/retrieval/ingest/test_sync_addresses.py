"""One page under several addresses; what documents inherit from the pages that link to them."""

from __future__ import annotations

import pytest

from retrieval.ingest import sync
from retrieval.models import Page
from tests.factories import PageFactory, SiteFactory
from tests.retrieval.ingest.sync_support import SITE, Web, found, html, run, urls

pytestmark = pytest.mark.django_db

ICON = '<meta property="og:site_name" content="{}"><link rel="icon" href="/{}.ico">'


# One page under several addresses


def test_rel_canonical_duplicates_are_one_page(web: Web) -> None:
    canonical = f'<link rel="canonical" href="{SITE}a">'
    web.put("a", html("A", "Apples are sweet.", head=canonical))
    web.put("a?print=1", html("A", "Apples are sweet.", head=canonical))
    for _ in range(2):
        run()
        assert urls() == {"a"}
    assert found("apples") == {"a"}


@pytest.mark.parametrize("order", [["old", "a"], ["a", "old"]])
def test_the_canonical_page_itself_wins_over_its_duplicate(web: Web, order: list[str]) -> None:
    head = f'<link rel="canonical" href="{SITE}a">'
    bodies = {"a": html("A", "Apples are sweet."), "old": html("A", "Apples are sour.", head=head)}
    for path in order:
        web.put(path, bodies[path])
    for _ in range(3):
        run()
        assert (urls(), found("sweet"), found("sour")) == ({"a"}, {"a"}, set())


def test_a_page_is_stored_under_a_canonical_address_that_is_not_linked(web: Web) -> None:
    head = f'<link rel="canonical" href="{SITE}a">'
    web.put("a.html", html("A", "Apples are sweet.", head=head), etag='"1"')
    run()
    assert urls() == {"a"}
    assert (run().unchanged, urls()) == (1, {"a"})


def test_a_canonical_address_on_another_host_is_ignored(web: Web) -> None:
    head = '<link rel="canonical" href="https://elsewhere.example/a">'
    web.put("a", html("A", "Apples are sweet.", head=head))
    run()
    assert urls() == {"a"}


def test_a_page_that_redirects_to_its_new_address_keeps_its_vectors(
    web: Web, embedded: list[str]
) -> None:
    web.put("old", html("A", "Apples are sweet."))
    run(vectors=True)
    del web.answers[SITE + "old"]
    web.put("new", html("A", "Apples are sweet."), requested_url=SITE + "old")
    assert sync([SITE]).embedded == 0
    assert urls() == {"new"}


def test_two_addresses_that_redirect_to_one_are_one_page(web: Web) -> None:
    web.put("a", html("A", "Apples are sweet."))
    web.put("b", html("A", "Apples are sweet."), url=SITE + "a")
    run()
    assert urls() == {"a"}


def test_the_first_of_two_overlapping_sites_owns_the_page(web: Web) -> None:
    web.put("docs/a", html("A", "Apples are sweet."))
    run(SITE)
    summary = run(SITE + "docs/")
    assert summary.skipped == {"already indexed by another site": 1}
    assert Page.objects.get().site.location == SITE


# Inherited by documents


def test_a_document_inherits_name_and_icon_from_the_page_that_links_to_it(web: Web) -> None:
    web.put("", html("Home", "Apples are sweet.", head=ICON.format("Docs", "one")))
    web.put("n.txt", "Plain notes.", media_type="text/plain", linked_from=SITE)
    run()
    note = Page.objects.get(url=SITE + "n.txt")
    assert (note.site_name, note.favicon_url) == ("Docs", SITE + "one.ico")
    web.put("", html("Home", "Apples are sweet.", head=ICON.format("New", "two")))
    run()
    note.refresh_from_db()
    assert (note.site_name, note.favicon_url) == ("New", SITE + "two.ico")


def test_a_document_of_another_host_inherits_nothing(web: Web) -> None:
    web.put("n.txt", "Plain notes.", media_type="text/plain", linked_from="https://other.example/")
    PageFactory.create(
        site=SiteFactory.create(location=SITE),
        url="https://other.example/",
        site_name="Other",
        recipe="another",
    )
    run()
    assert Page.objects.get(url=SITE + "n.txt").site_name is None
