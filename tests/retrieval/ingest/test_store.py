"""Pages in the database and in the indexes: what is kept, what is written anew."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from retrieval.index import dense_index, sparse_index
from retrieval.ingest.base import Document, Fetched, Passage
from retrieval.ingest.store import PageWrite, Stored, pages_prune, pages_store
from retrieval.models import Chunk, Embedding, IndexState, Page, Site
from retrieval.types import Fragment
from tests.factories import SiteFactory

pytestmark = pytest.mark.django_db

URL = "https://docs.example/a"


@pytest.fixture
def site() -> Site:
    return SiteFactory.create()


def write(*texts: str, url: str = URL, title: str = "Title", **fetched: str) -> PageWrite:
    return PageWrite(
        url=url,
        fetched=Fetched(
            url=url, requested_url=url, media_type="text/html", charset=None, body=b"", **fetched
        ),
        content_hash=f"hash of {len(texts)}",
        recipe="recipe",
        document=Document(title=title, site_name="Docs", language="en"),
        passages=tuple(Passage(text=text, section=("Top",)) for text in texts),
    )


def store(site: Site, *writes: PageWrite) -> list[Stored]:
    return pages_store(site, writes)


def texts(url: str = URL) -> list[str]:
    chunks = Chunk.objects.filter(page__url=url).order_by("position")
    return list(chunks.values_list("text", flat=True))


def embed(text: str) -> int:
    chunk = Chunk.objects.get(text=text)
    dense_index().add([chunk.pk], np.ones((1, 4), np.float32) / 2)
    return chunk.pk


def found(text: str) -> list[str]:
    hits = sparse_index().search(text, language="en", k=10)
    return list(
        Chunk.objects.filter(pk__in=[h.chunk_id for h in hits]).values_list("text", flat=True)
    )


def test_a_new_page_is_searchable_as_soon_as_it_is_stored(site: Site) -> None:
    (stored,) = store(site, write("alpha apples", "beta bananas", etag='"1"'))
    assert (stored.new, stored.changed, stored.chunks_added) == (True, True, 2)
    page = Page.objects.get()
    assert (page.url, page.title, page.site_name, page.etag) == (URL, "Title", "Docs", '"1"')
    assert texts() == ["alpha apples", "beta bananas"]
    assert found("bananas") == ["beta bananas"]


def test_unchanged_chunks_keep_their_row_and_their_vector(site: Site) -> None:
    store(site, write("one", "two", "three"))
    kept = embed("two")
    (stored,) = store(site, write("one", "two", "four"))
    assert (stored.chunks_added, stored.chunks_kept, stored.chunks_removed) == (1, 2, 1)
    assert Embedding.objects.get().chunk_id == kept == Chunk.objects.get(text="two").pk
    assert texts() == ["one", "two", "four"]
    assert found("three") == []
    assert found("four") == ["four"]


def test_chunks_that_only_moved_are_renumbered(site: Site) -> None:
    store(site, write("one", "two", "three"))
    ids = set(Chunk.objects.values_list("pk", flat=True))
    (stored,) = store(site, write("three", "one", "new", "two"))
    assert (stored.chunks_added, stored.chunks_kept) == (1, 3)
    assert texts() == ["three", "one", "new", "two"]
    assert ids < set(Chunk.objects.values_list("pk", flat=True))


def test_a_text_that_stands_twice_is_two_chunks(site: Site) -> None:
    store(site, write("same", "same"))
    (stored,) = store(site, write("same", "other", "same"))
    assert (stored.chunks_added, stored.chunks_kept, stored.chunks_removed) == (1, 2, 0)
    assert texts() == ["same", "other", "same"]


def test_a_new_fragment_or_anchor_changes_the_row_and_not_the_vector(site: Site) -> None:
    first = write("one")
    store(site, first)
    embed("one")
    passage = replace(first.passages[0], anchor="sec", fragment=Fragment(start="one", end="end"))
    (stored,) = store(site, replace(first, passages=(passage,)))
    chunk = Chunk.objects.get()
    assert (stored.chunks_added, stored.chunks_kept) == (0, 1)
    assert (chunk.anchor, chunk.fragment_start, chunk.fragment_end) == ("sec", "one", "end")
    assert Embedding.objects.count() == 1


def test_a_new_title_indexes_the_page_anew(site: Site) -> None:
    store(site, write("one", title="Old"))
    embed("one")
    store(site, write("one", title="Zebra"))
    assert not Embedding.objects.exists()
    assert found("zebra") == ["one"]


def test_a_page_that_moved_keeps_its_chunks(site: Site) -> None:
    (old,) = store(site, write("one", "two"))
    moved = replace(write("one", "two", url=URL + "/new"), replaces=old.page_id)
    (stored,) = store(site, moved)
    assert (stored.page_id, stored.new, stored.chunks_kept) == (old.page_id, False, 2)
    assert Page.objects.get().url == URL + "/new"


def test_a_note_takes_the_page_out_of_the_index_and_keeps_its_validators(site: Site) -> None:
    store(site, write("one"))
    note = replace(write(etag='"2"'), document=None, note="no text found")
    (stored,) = store(site, note)
    page = Page.objects.get()
    assert stored.chunks_removed == 1
    assert (page.note, page.etag, page.title) == ("no text found", '"2"', URL)
    assert found("one") == []


def test_the_first_site_owns_a_page(site: Site) -> None:
    other = SiteFactory.create(location="https://docs.example/other/")
    store(site, write("one"))
    (stored,) = store(other, write("two"))
    assert stored.owner == site.location
    assert texts() == ["one"]


def test_a_header_with_nul_is_left_out(site: Site) -> None:
    store(site, write("one", etag='"a\0b"'))
    assert Page.objects.get().etag == ""


def test_overlong_metadata_is_cut_or_left_out(site: Site) -> None:
    document = Document(title="t" * 900, site_name="s" * 900, favicon_url="https://x/" + "f" * 3000)
    passage = Passage(text="one", anchor="a" * 400)
    given = replace(write(etag="e" * 600), document=document, passages=(passage,))
    store(site, given)
    page, chunk = Page.objects.get(), Chunk.objects.get()
    assert (len(page.title), len(page.site_name or "")) == (500, 300)
    assert (page.favicon_url, page.etag, chunk.anchor) == (None, "", "")


def test_a_refused_batch_leaves_everything_as_it_was(site: Site) -> None:
    store(site, write("one"))
    version = IndexState.objects.values_list("version", flat=True).first()

    class Refused(Exception):
        pass

    def refuse() -> None:
        raise Refused

    with pytest.raises(Refused):
        pages_store(site, [write("two")], confirm=refuse)
    assert texts() == ["one"]
    assert IndexState.objects.values_list("version", flat=True).first() == version


def test_every_write_raises_the_version_that_caches_watch(site: Site) -> None:
    def version() -> int:
        return IndexState.objects.get().version

    store(site, write("one"))
    first = version()
    store(site, write("two"))
    second = version()
    pages_prune(Page.objects.values_list("pk", flat=True))
    assert first < second < version()


def test_a_batch_takes_few_statements(site: Site) -> None:
    writes = [write(f"text {n}", url=f"{URL}/{n}") for n in range(20)]
    store(site, *writes)
    changed = [write(f"text {n}", f"more {n}", url=f"{URL}/{n}") for n in range(20)]
    with CaptureQueriesContext(
        connection,
    ) as queries:
        store(site, *changed)
    assert len(queries) < 2 * len(writes)


def test_pruned_pages_leave_every_index(site: Site) -> None:
    store(site, write("one apple"), write("two apples", url=URL + "/2"))
    embed("one apple")
    pruned = pages_prune([Page.objects.get(url=URL).pk])
    assert (pruned.pages, pruned.chunks) == (1, 1)
    assert not Embedding.objects.exists()
    assert found("apple") == ["two apples"]
