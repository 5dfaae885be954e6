"""What a sync makes of a crawl: stored, kept, pruned, remembered."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.utils import timezone

from retrieval.index import sparse_index
from retrieval.ingest import sync, syncing
from retrieval.ingest.base import CrawlEnd
from retrieval.ingest.lease import site_lease
from retrieval.ingest.sites import BadSource
from retrieval.ingest.summary import SiteSummary
from retrieval.models import Chunk, Embedding, Page, Site
from tests.factories import PageFactory, SiteFactory
from tests.retrieval.ingest.sync_support import SITE, CountingEmbedder, Web, html

pytestmark = pytest.mark.django_db

ICON = '<meta property="og:site_name" content="{}"><link rel="icon" href="/{}.ico">'


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> Web:
    web = Web()
    monkeypatch.setattr(syncing, "crawl", web.crawl)
    return web


@pytest.fixture
def embedded(settings: LazySettings) -> Iterator[list[str]]:
    path = f"{CountingEmbedder.__module__}.{CountingEmbedder.__qualname__}"
    settings.FASTRAG = {**settings.FASTRAG, "EMBEDDER": {"BACKEND": path}}
    CountingEmbedder.embedded.clear()
    yield CountingEmbedder.embedded
    CountingEmbedder.embedded.clear()


def run(source: str = SITE, **options: Any) -> SiteSummary:
    (summary,) = sync([source], **{"vectors": False, **options}).sites
    return summary


def urls() -> set[str]:
    searchable = Page.objects.filter(chunks__isnull=False)
    return {url.removeprefix(SITE) for url in searchable.values_list("url", flat=True)}


def found(text: str) -> set[str]:
    hits = sparse_index().search(text, language="en", k=10)
    chunks = Chunk.objects.filter(pk__in=[hit.chunk_id for hit in hits])
    return {url.removeprefix(SITE) for url in chunks.values_list("page__url", flat=True)}


# Unchanged, changed


def test_a_first_sync_stores_the_pages_and_remembers_the_site(web: Web) -> None:
    web.put("", html("Home", "Apples are sweet."))
    web.put("b", html("B", "Bananas are yellow."))
    summary = run()
    assert (summary.fetched, summary.new, summary.failure) == (2, 2, None)
    assert found("bananas") == {"b"}
    site = Site.objects.get()
    assert (site.kind, site.location, site.last_outcome) == ("site", SITE, "ok")
    assert site.last_summary["new"] == 2
    assert site.lease == ""


def test_only_changed_chunks_are_embedded_again(web: Web, embedded: list[str]) -> None:
    long = ["Apples grow on trees. " * 40, "Bananas grow on plants. " * 40]
    web.put("", html("Home", *long))
    run(vectors=True)
    first = len(embedded)
    assert first == Chunk.objects.count() > 1
    web.put("", html("Home", long[0], "Cherries grow on trees as well. " * 30))
    run(vectors=True)
    assert 0 < len(embedded) - first < first
    assert all("Cherries" in text for text in embedded[first:])
    assert Embedding.objects.count() == Chunk.objects.count()


def test_a_missing_embedder_is_a_note_and_the_next_sync_fills_in(
    web: Web, embedded: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    web.put("", html("Home", "Apples are sweet."), etag='"1"')
    monkeypatch.setattr(CountingEmbedder, "is_out", True)
    summary = sync([SITE])
    assert (summary.failed, summary.embedded, found("apples")) == (False, 0, {""})
    assert "the weights are missing" in summary.notes[0]
    monkeypatch.setattr(CountingEmbedder, "is_out", False)
    assert (sync([SITE]).embedded, len(embedded)) == (1, 1)


@pytest.mark.parametrize("etag", ['"1"', ""], ids=["not modified", "equal content"])
def test_an_unchanged_page_is_not_parsed_and_not_embedded(
    web: Web, embedded: list[str], monkeypatch: pytest.MonkeyPatch, etag: str
) -> None:
    web.put("", html("Home", "Apples are sweet."), etag=etag)
    run(vectors=True)
    embedded.clear()
    monkeypatch.setattr("retrieval.ingest.reading.parse", None)  # a call would raise
    summary = sync([SITE])
    assert (summary.sites[0].unchanged, summary.sites[0].changed) == (1, 0)
    assert (summary.embedded, embedded) == (0, [])
    assert found("apples") == {""}


def test_the_links_of_known_pages_are_handed_to_the_crawler(web: Web) -> None:
    web.put("", html("Home", "Apples are sweet.", links=["b", "/c"]), etag='"1"')
    run()
    run()
    known = web.requests[-1].known[SITE]
    assert (known.etag, known.links) == ('"1"', (SITE + "b", SITE + "c"))


def test_a_new_recipe_reads_unchanged_pages_again(
    web: Web, settings: LazySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    web.put("", html("Home", "Apples are sweet."), etag='"1"')
    run()
    monkeypatch.setattr("retrieval.ingest.ledger.INGEST_VERSION", 999)
    summary = run()
    assert (summary.changed, summary.chunks_added) == (1, 0)
    assert web.requests[-1].known == {}


def test_no_source_syncs_every_enabled_site(web: Web) -> None:
    web.put("", html("Home", "Apples are sweet."))
    SiteFactory.create(location=SITE)
    SiteFactory.create(location="https://off.example/", enabled=False)
    summary = sync(vectors=False)
    assert [site.location for site in summary.sites] == [SITE]


# Gone


def test_a_page_that_answers_gone_is_pruned(web: Web) -> None:
    web.put("", html("Home", "Apples are sweet."))
    web.put("b", html("B", "Bananas are yellow."))
    run()
    web.skip("b", gone=True)
    web.end = CrawlEnd(complete=False)
    assert run().pruned == 1
    assert (urls(), found("bananas")) == ({""}, set())


def test_a_page_that_is_no_longer_linked_is_pruned_after_a_complete_crawl(web: Web) -> None:
    web.put("", html("Home", "Apples are sweet."))
    web.put("b", html("B", "Bananas are yellow."))
    run()
    del web.answers[SITE + "b"]
    assert run().pruned == 1
    assert found("bananas") == set()


@pytest.mark.parametrize(
    "end",
    [CrawlEnd(complete=False), CrawlEnd(complete=False, failure="The start page is out.")],
    ids=["incomplete", "failed"],
)
def test_absence_prunes_nothing_unless_the_crawl_was_complete(web: Web, end: CrawlEnd) -> None:
    web.put("", html("Home", "Apples are sweet."))
    web.put("b", html("B", "Bananas are yellow."))
    run()
    web.answers.clear()
    web.end = end
    summary = run()
    assert (summary.pruned, summary.failure) == (0, end.failure)
    assert urls() == {"", "b"}


def test_a_crawl_that_breaks_off_keeps_the_index_and_the_next_one_continues(web: Web) -> None:
    web.put("", html("Home", "Apples are sweet."))
    web.put("b", html("B", "Bananas are yellow."))
    run()
    web.put("c", html("C", "Cherries are red."))
    web.breaks_after = 1
    summary = run()
    assert summary.failure and "log" in summary.failure
    assert (urls(), Site.objects.get().last_outcome) == ({"", "b"}, "failed")
    web.breaks_after = None
    assert (run().new, urls()) == (1, {"", "b", "c"})


def test_a_transient_failure_keeps_the_page(web: Web) -> None:
    web.put("", html("Home", "Apples are sweet."))
    web.put("b", html("B", "Bananas are yellow."))
    run()
    web.skip("b", transient=True)
    summary = run()
    assert (summary.pruned, summary.skipped) == (0, {"HTTP error": 1})
    assert found("bananas") == {"b"}


@pytest.mark.parametrize("way", ["header", "meta"])
def test_a_page_that_turns_noindex_is_pruned(web: Web, way: str) -> None:
    web.put("", html("Home", "Apples are sweet."))
    web.put("b", html("B", "Bananas are yellow."))
    run()
    head = '<meta name="robots" content="noindex">' if way == "meta" else ""
    web.put("b", html("B", "Bananas are yellow.", head=head), noindex=way == "header")
    summary = run()
    assert (summary.pruned, summary.skipped) == (1, {"noindex": 1})
    assert found("bananas") == set()


def test_a_crawl_that_misses_most_of_a_large_site_asks_before_it_prunes(web: Web) -> None:
    for number in range(30):
        web.put(f"{number}", html(f"Page {number}", "Apples are sweet."))
    run()
    web.answers = dict(list(web.answers.items())[:5])
    summary = run()
    assert summary.failure and "--prune" in summary.failure
    assert Page.objects.count() == 30
    assert run(prune=True).pruned == 25


def test_a_page_that_cannot_be_read_does_not_stop_the_others(
    web: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(fetched: object) -> None:
        raise RuntimeError("unexpected")

    web.put("", html("Home", "Apples are sweet."))
    run()
    monkeypatch.setattr("retrieval.ingest.reading.parse", broken)
    web.put("", html("Home", "Apples are sour."))
    summary = run()
    assert (summary.failure, sum(summary.skipped.values())) == (None, 1)
    assert found("sweet") == {""}


def test_a_page_without_text_is_remembered_with_the_reason(web: Web) -> None:
    web.put("", html("", ""), etag='"1"')
    assert run().skipped == {"no text found": 1}
    assert Page.objects.get().note == "no text found"
    assert run().skipped == {"no text found": 1}  # by a conditional request
    assert web.requests[-1].known[SITE].etag == '"1"'


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


# Folders


def test_a_folder_is_synced_by_its_base_url(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# Apples\n\nApples are sweet.")
    (tmp_path / "index.html").write_text(html("Home", "See the rest.", head=ICON.format("D", "i")))
    summary = run(str(tmp_path), base_url=SITE)
    assert (summary.new, summary.failure) == (2, None)
    assert found("apples") == {"a.md"}
    assert run(str(tmp_path)).unchanged == 2
    (tmp_path / "a.md").unlink()
    assert run(str(tmp_path)).pruned == 1


def test_a_folder_that_was_emptied_or_unmounted_prunes_nothing(tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.write_text("# Apples\n\nApples are sweet.")
    run(str(tmp_path), base_url=SITE)
    file.unlink()
    assert run(str(tmp_path)).failure
    assert found("apples") == {"a.md"}


# Sources


@pytest.mark.parametrize(
    ("source", "options", "says"),
    [
        ("ftp://example.org/", {}, "cannot be synced"),
        ("https://", {}, "cannot be synced"),
        ("https://user:secret@example.org/", {}, "user name"),
        ("example.org/docs", {}, "https://"),
        ("", {}, "neither"),
        ("https://example.org/", {"base_url": SITE}, "--base-url"),
        (".", {}, "--base-url https://"),
        (".", {"base_url": "docs"}, "cannot be synced"),
        ("manage.py", {}, "is a file"),
    ],
)
def test_a_bad_source_is_refused_with_what_to_do(
    source: str, options: dict[str, Any], says: str
) -> None:
    with pytest.raises(BadSource, match=says):
        sync([source], **options)
    assert not Site.objects.exists()


@pytest.mark.parametrize(
    ("source", "single", "kind", "location"),
    [
        ("https://Example.org", False, "site", "https://example.org/"),
        ("https://example.org/docs#top", False, "site", "https://example.org/docs"),
        ("https://example.org/sitemap.xml", False, "sitemap", "https://example.org/sitemap.xml"),
        ("https://example.org/a", True, "url", "https://example.org/a"),
    ],
)
def test_a_source_becomes_a_site_of_its_kind(
    web: Web, source: str, single: bool, kind: str, location: str
) -> None:
    run(source, single=single, depth=3, max_pages=7)
    site = Site.objects.get()
    assert (site.kind, site.location, site.depth, site.max_pages) == (kind, location, 3, 7)
    request = web.requests[0]
    assert (request.kind, request.depth, request.max_pages) == (kind, 3, 7)
    assert request.trusted_host == "example.org"


def test_syncing_a_remembered_source_again_keeps_its_options(web: Web) -> None:
    run(SITE, single=True, max_pages=7)
    run(SITE)
    site = Site.objects.get()
    assert (site.kind, site.max_pages) == ("url", 7)


# One at a time


def test_a_second_sync_of_the_same_site_is_refused(web: Web) -> None:
    web.put("", html("Home", "Apples are sweet."))
    site = SiteFactory.create(location=SITE, last_summary={"new": 5})
    with site_lease(site):
        summary = run()
    assert summary.failure and "is running" in summary.failure
    assert (web.requests, Site.objects.get().last_summary) == ([], {"new": 5})
    assert run().failure is None


def test_the_lease_of_a_killed_process_of_this_machine_is_taken_over(web: Web) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    SiteFactory.create(
        location=SITE,
        lease="old",
        lease_holder=f"{socket.gethostname()} pid {ended.pid}",
        leased_until=timezone.now() + timedelta(seconds=50),
    )
    assert run().failure is None


def test_a_lease_of_another_machine_ends_when_its_time_is_up(web: Web) -> None:
    until = timezone.now() + timedelta(seconds=50)
    site = SiteFactory.create(
        location=SITE, lease="old", lease_holder="elsewhere pid 1", leased_until=until
    )
    failure = run().failure
    assert failure and "try again in" in failure
    Site.objects.filter(pk=site.pk).update(leased_until=timezone.now())
    assert run().failure is None


def test_a_sync_that_lost_its_lease_writes_nothing_more(web: Web) -> None:
    web.put("", html("Home", "Apples are sweet."))
    web.before_end = lambda: Site.objects.update(lease="of another", last_outcome="running")
    summary = run()
    assert summary.failure and "took over" in summary.failure
    assert not Page.objects.exists()
    site = Site.objects.get()
    assert (site.lease, site.last_outcome) == ("of another", "running")
