"""`index/add` and `index/delete`."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import override_settings

from retrieval import services
from retrieval.handlers.server import local_server
from retrieval.models import Chunk, Document, Embedding, Page
from retrieval.types import Query
from tests.retrieval.handlers.conftest import Engine
from tests.retrieval.handlers.test_retrieve import OUT

CRANE = {"id": "crane", "text": "The crane lifts nine tonnes of steel.", "meta": {"team": "x"}}
LONG = "\n\n".join(
    f"Paragraph {number} of the manual tells how lever {number} of the crane is moved, and by whom."
    for number in range(60)
)


def found(engine: Engine, query: str, **params: Any) -> list[str]:
    return [hit["chunk"]["docId"] for hit in engine.retrieve(query, **params).hits]


def test_what_is_added_is_found_by_words_and_by_meaning(engine: Engine) -> None:
    engine.add(CRANE)
    assert found(engine, "crane tonnes", mode="sparse") == ["crane"]
    assert found(engine, "hoisting machine", mode="dense")[0] == "crane"
    assert found(engine, "crane tonnes")[0] == "crane"


def test_and_by_the_chat_at_once(engine: Engine) -> None:
    engine.add(CRANE)
    hit = services.search(Query(text="How much does the crane lift?")).hits[0]
    assert hit.text == CRANE["text"]


def test_ids_are_positional_and_made_where_none_is_given(engine: Engine) -> None:
    result = engine.add(CRANE, {"text": "Nameless."}, {"id": "b", "text": "Other."}).result
    assert result["ids"][::2] == ["crane", "b"]
    assert result["ids"][1]
    assert result["chunks"] == 3


def test_the_same_id_is_replaced(engine: Engine) -> None:
    engine.add(CRANE)
    engine.add({**CRANE, "text": "The lift carries four people."})
    assert "crane" not in found(engine, "tonnes of steel", mode="sparse")
    assert found(engine, "lift people", mode="sparse")[0] == "crane"
    assert Document.objects.count() == 1


def test_a_repeat_changes_nothing(engine: Engine) -> None:
    first = engine.add(CRANE, {"text": "Nameless."}).result
    before = list(Chunk.objects.order_by("pk").values_list("pk", "page__changed_at"))
    assert engine.add(CRANE, {"text": "Nameless."}).result == first
    assert list(Chunk.objects.order_by("pk").values_list("pk", "page__changed_at")) == before


def test_new_meta_alone_keeps_the_chunks(engine: Engine) -> None:
    engine.add(CRANE)
    chunk = Chunk.objects.get(page__document__name="crane")
    engine.add({**CRANE, "meta": {"team": "y"}})
    assert Chunk.objects.get(page__document__name="crane").pk == chunk.pk
    team = {"field": "team", "op": "eq", "value": "y"}
    assert found(engine, "crane", filter=team) == ["crane"]
    assert found(engine, "crane", filter={**team, "value": "x"}) == []


def test_of_one_id_twice_in_a_call_the_last_counts(engine: Engine) -> None:
    assert engine.add(CRANE, {**CRANE, "text": "A lift."}).result["ids"] == ["crane", "crane"]
    assert Chunk.objects.get(page__document__name="crane").text == "A lift."


def test_long_texts_are_cut_into_chunks(engine: Engine) -> None:
    result = engine.add({"id": "long", "text": LONG}).result
    assert result["chunks"] > 3
    hits = engine.retrieve("lever 42", k=3, mode="sparse").hits
    assert "lever 42" in hits[0]["text"]
    assert hits[0]["chunk"]["index"] > 0


def test_unless_the_caller_has_cut_them(engine: Engine) -> None:
    assert engine.add({"id": "long", "text": LONG}, chunk=False).result["chunks"] == 1
    assert Chunk.objects.get(page__document__name="long").text == LONG


@pytest.mark.parametrize(
    ("media_type", "text", "section"),
    [
        ("text/markdown", "# Cranes\n\nGeneral words.\n\n## Hook\n\nThe hook is *steel*.", "Hook"),
        ("text/html", "<h1>Cranes</h1><p>General.</p><h2>Hook</h2><p>Of steel.</p>", "Hook"),
    ],
)
def test_markup_is_read_by_its_media_type(
    engine: Engine, media_type: str, text: str, section: str
) -> None:
    engine.add({"id": "m", "text": text, "meta": {"mediaType": media_type}})
    hit = engine.retrieve("steel hook", k=1).hits[0]
    assert "*" not in hit["text"]
    assert "<" not in hit["text"]
    assert hit["meta"]["mediaType"] == media_type
    assert section in hit["text"] or section in hit["meta"]["section"]


def test_meta_describes_the_page(engine: Engine) -> None:
    meta = {"title": "Kran", "siteName": "Werk", "language": "de-AT", "mediaType": "text/plain"}
    engine.add({"id": "k", "text": "Der Kran hebt neun Tonnen.", "meta": meta})
    page = Page.objects.get(document__name="k")
    assert (page.title, page.site_name, page.language) == ("Kran", "Werk", "de")


def test_the_first_line_is_the_title_of_a_text_that_goes_on(engine: Engine) -> None:
    engine.add({"id": "a", "text": "Crane manual\n\nIt lifts nine tonnes."}, CRANE)
    titles = dict(Page.objects.values_list("document__name", "title"))
    assert (titles["a"], titles["crane"]) == ("Crane manual", "crane")


# Deleting


def test_what_is_deleted_is_gone_from_every_index(engine: Engine) -> None:
    engine.add(CRANE, {"id": "b", "text": "Another crane."})
    assert engine.ask("index/delete", ids=["crane", "unknown", "crane", "a\0b"]).result == {
        "deleted": 1
    }
    for mode in ("sparse", "dense"):
        assert "crane" not in found(engine, "crane", k=100, mode=mode)
    assert found(engine, "crane", mode="sparse") == ["b"]
    assert engine.ask("index/delete", ids=["crane"]).result == {"deleted": 0}


def test_pages_of_a_crawl_cannot_be_deleted(engine: Engine) -> None:
    url = "https://plant.example/boiler"
    assert engine.ask("index/delete", ids=[url]).result == {"deleted": 0}
    assert Page.objects.filter(url=url).exists()


def test_a_deleted_document_can_come_back(engine: Engine) -> None:
    engine.add(CRANE)
    engine.ask("index/delete", ids=["crane"])
    engine.add(CRANE)
    assert found(engine, "crane", mode="sparse") == ["crane"]


# Refusals


@pytest.mark.parametrize(
    ("document", "field"),
    [
        ({"id": "x"}, "documents[1].text"),
        ({"text": ""}, "documents[1].text"),
        ({"text": " \u200b\n"}, "documents[1].text"),
        ({"text": 5}, "documents[1].text"),
        ({"id": 5, "text": "x"}, "documents[1].id"),
        ({"id": "", "text": "x"}, "documents[1].id"),
        ({"id": "x" * 201, "text": "x"}, "documents[1].id"),
        ({"id": "a\0b", "text": "x"}, "documents[1].id"),
        ({"text": "x", "meta": []}, "documents[1].meta"),
        ({"text": "x", "meta": {"a": "x" * 17_000}}, "documents[1].meta"),
        ({"text": "x", "meta": {"a": ["b\0"]}}, "documents[1].meta"),
    ],
)
def test_a_document_that_cannot_be_stored_is_named_and_none_is_stored(
    engine: Engine, document: dict[str, Any], field: str
) -> None:
    error = engine.add(CRANE, document).error
    assert (error["code"], error["data"]["field"]) == (-32602, field)
    assert not Document.objects.exists()


def test_a_backslash_is_no_nul(engine: Engine) -> None:
    engine.add({**CRANE, "meta": {"path": "C:\\u0000"}})
    assert engine.retrieve("crane", k=1).hits[0]["meta"]["path"] == "C:\\u0000"


def test_controls_in_a_text_are_dropped(engine: Engine) -> None:
    engine.add({"id": "c", "text": "The cr\0ane\x07 lifts."})
    assert Chunk.objects.get(page__document__name="c").text == "The crane lifts."


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("index/add", {"documents": [CRANE] * 101}),
        ("index/delete", {"ids": ["x"] * 101}),
    ],
)
def test_a_call_that_holds_too_much_is_refused(
    engine: Engine, method: str, params: dict[str, Any]
) -> None:
    assert engine.ask(method, **params).error["code"] == -32013


def test_a_full_index_takes_changes_and_nothing_new(engine: Engine) -> None:
    with override_settings(FASTRAG={"RCP_DOCUMENTS_MAX": 1}):
        engine.add(CRANE)
        error = engine.add({"id": "b", "text": "More."}).error
        assert error["code"] == -32013
        assert engine.add({**CRANE, "text": "The lift."}).result["ids"] == ["crane"]
    assert list(Document.objects.values_list("name", flat=True)) == ["crane"]


def test_a_read_only_server_offers_no_writing(engine: Engine) -> None:
    server = local_server(writable=False)
    reader = Engine(server)
    assert server.capabilities["index"]["writable"] is False
    assert reader.add(CRANE).error["code"] == -32003
    assert reader.ask("index/delete", ids=["x"]).error["code"] == -32003
    server.close()


# Vectors


def test_without_vectors_the_caller_is_told_and_words_find_it(engine: Engine) -> None:
    with override_settings(FASTRAG=OUT):
        said = engine.add(CRANE)
    assert "1 chunks are found by words alone" in said.result["usage"]["notes"][0]
    assert found(engine, "crane tonnes")[0] == "crane"


def test_vectors_take_no_longer_than_they_may(engine: Engine) -> None:
    with override_settings(FASTRAG={"RCP_VECTORS_SECONDS": 1e-9}):
        said = engine.add({"id": "long", "text": LONG * 4})
    made = Embedding.objects.filter(chunk__page__document__name="long").count()
    assert made == 16 < said.result["chunks"]
    assert said.result["usage"]["notes"]
