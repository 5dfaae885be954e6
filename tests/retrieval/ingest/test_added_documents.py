"""Documents that callers add, as pages of a site of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from retrieval.ingest import drafts, sync
from retrieval.ingest.documents import documents_add, documents_delete, documents_site
from retrieval.ingest.drafts import NewDocument
from retrieval.ingest.syncing import site_sync
from retrieval.models import Chunk, Document, Page, Site

pytestmark = pytest.mark.django_db

CRANE = NewDocument(text="The crane lifts nine tonnes.", name="crane")


def test_they_belong_to_one_site_that_no_sync_touches(tmp_path: Path) -> None:
    documents_add([CRANE])
    site = documents_site()
    assert (site.kind, site.enabled) == (Site.Kind.DOCUMENTS, False)
    assert sync(vectors=False).sites == ()
    assert "nothing to sync" in (site_sync(site).failure or "")
    assert Page.objects.filter(site=site).count() == 1


def test_a_nameless_document_is_known_by_what_it_says() -> None:
    first = documents_add([NewDocument(text="A."), NewDocument(text="A."), NewDocument(text="B.")])
    assert first.names[0] == first.names[1] != first.names[2]
    assert documents_add([NewDocument(text="A.")]).page_ids == ()


def test_meta_is_part_of_what_it_says() -> None:
    one, other = documents_add(
        [NewDocument(text="A.", meta={"x": 1}), NewDocument(text="A.", meta={"x": 2})]
    ).names
    assert one != other


def test_a_repeat_is_not_even_read(monkeypatch: pytest.MonkeyPatch) -> None:
    documents_add([CRANE])
    monkeypatch.setattr(drafts, "parse", None)
    assert documents_add([CRANE]).page_ids == ()


def test_another_way_of_cutting_is_another_document() -> None:
    documents_add([CRANE])
    assert len(documents_add([CRANE], chunk=False).page_ids) == 1


def test_several_documents_may_stand_on_one_page() -> None:
    meta = {"url": "https://cranes.example/manual"}
    documents_add(
        [
            NewDocument(text="Part one.", name="1", meta=meta),
            NewDocument(text="Part two.", name="2", meta=meta),
        ]
    )
    assert set(Document.objects.values_list("url", flat=True)) == {meta["url"]}
    assert Page.objects.count() == 2


@pytest.mark.parametrize("url", ["ftp://x.example/", "javascript:alert(1)", "no address", 5])
def test_what_is_no_web_address_is_no_address(url: object) -> None:
    documents_add([NewDocument(text="A.", name="a", meta={"url": url})])
    document = Document.objects.get()
    assert document.url == ""
    assert document.meta == {"url": url}


def test_a_fragment_is_made_only_where_a_browser_can_look(request: pytest.FixtureRequest) -> None:
    web = {"url": "https://cranes.example/"}
    documents_add([CRANE, NewDocument(text=CRANE.text, name="web", meta=web)])
    starts = dict(Chunk.objects.values_list("page__document__name", "fragment_start"))
    assert starts == {"crane": "", "web": "The crane lifts nine tonnes."}


def test_deleting_leaves_nothing() -> None:
    documents_add([NewDocument(text="A.", name="a", meta={"x": 1}), CRANE])
    assert documents_delete(["a"]) == 1
    assert list(Page.objects.values_list("document__name", flat=True)) == ["crane"]
