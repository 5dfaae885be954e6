"""What a sync makes of a crawl: stored, kept, pruned, remembered."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.conf import LazySettings

from retrieval.ingest import sync
from retrieval.ingest.base import CrawlEnd
from retrieval.models import Chunk, Embedding, Page, Site
from tests.factories import SiteFactory
from tests.retrieval.ingest.sync_support import SITE, CountingEmbedder, Web, found, html, run, urls

pytestmark = pytest.mark.django_db

ICON = '<meta property="og:site_name" content="{}"><link rel="icon" href="/{}.ico">'


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
