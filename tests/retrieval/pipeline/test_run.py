"""The whole funnel."""

from __future__ import annotations

from contextlib import suppress

import pytest
from django.test import override_settings

from retrieval.index import sparse_index
from retrieval.models import Chunk, Embedding, IndexState, Page
from retrieval.services import retrieve, search
from retrieval.types import Fusion, FusionMethod, Mode, Query, Retrieved, Stage, Unit
from tests.factories import ChunkFactory, PageFactory
from tests.retrieval.embedders import HashEmbedder
from tests.retrieval.pipeline.conftest import Index

pytestmark = pytest.mark.django_db

TEXTS = ("brew coffee slowly", "brew tea quickly", "paint the wall white")


def texts(found: Retrieved) -> list[str]:
    return [hit.text for hit in found.hits]


def stages(query: Query) -> tuple[list[Stage], Retrieved]:
    steps, seen = retrieve(query), []
    while True:
        try:
            seen.append(next(steps))
        except StopIteration as stop:
            return seen, stop.value


# Stages


def test_a_stage_is_yielded_after_each_step_that_ran(index: Index) -> None:
    chunks = index(*TEXTS)
    seen, found = stages(Query(text="brew coffee"))
    assert [stage.name for stage in seen] == [
        "transform",
        "recall:sparse",
        "recall:dense",
        "fuse:convex",
        "mmr",
        "pack",
    ]
    assert [stage.progress for stage in seen] == sorted(stage.progress for stage in seen)
    assert seen[-1].progress == 1.0
    assert seen[1].chunk_ids[0] == chunks[0].pk
    assert seen[-1].chunk_ids == tuple(hit.chunk_id for hit in found.hits)


@pytest.mark.parametrize(
    ("query", "absent"),
    [
        (Query(text="brew", mode=Mode.SPARSE), "recall:dense"),
        (Query(text="brew", mode=Mode.DENSE), "recall:sparse"),
        (Query(text="brew", mmr_lambda=1.0), "mmr"),
    ],
)
def test_a_step_that_did_not_run_is_no_stage(index: Index, query: Query, absent: str) -> None:
    index(*TEXTS)
    assert absent not in [stage.name for stage in stages(query)[0]]


def test_a_search_that_is_abandoned_half_way_leaves_nothing_behind(index: Index) -> None:
    index(*TEXTS)
    steps = retrieve(Query(text="brew coffee"))
    next(steps)
    next(steps)
    steps.close()
    assert texts(search(Query(text="brew coffee")))[0] == TEXTS[0]


# Results


@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize("method", list(FusionMethod))
def test_every_mode_and_fusion_finds_the_passage_first(
    index: Index, mode: Mode, method: FusionMethod
) -> None:
    index(*TEXTS)
    query = Query(text="brew coffee slowly", mode=mode, fusion=Fusion(method=method))
    found = search(query)
    assert texts(found)[0] == "brew coffee slowly"
    assert search(query).hits == found.hits
    scores = [hit.score for hit in found.hits]
    assert scores == sorted(scores, reverse=True)
    assert len({hit.chunk_id for hit in found.hits}) == len(found.hits)


def test_a_hit_carries_its_page_and_passage(index: Index, page: Page) -> None:
    (chunk,) = index("brew coffee")
    Page.objects.filter(pk=page.pk).update(site_name="Docs", favicon_url="https://x.example/i")
    Chunk.objects.filter(pk=chunk.pk).update(
        section=["Kitchen"], anchor="k", fragment_start="brew", fragment_end="coffee"
    )
    (hit,) = search(Query(text="coffee")).hits
    assert (hit.chunk_id, hit.page_id) == (chunk.pk, page.pk)
    assert (hit.url, hit.title, hit.site_name) == (page.url, "Guide", "Docs")
    assert (hit.section, hit.anchor, hit.language) == (("Kitchen",), "k", "en")
    assert hit.fragment is not None
    assert (hit.fragment.start, hit.fragment.end) == ("brew", "coffee")
    assert hit.scores.sparse is not None
    assert hit.scores.dense is not None


@pytest.mark.parametrize("text", ["", " ", '"', "*", "^", "\0", "\ud800", "🎉", "((("])
@pytest.mark.parametrize("mode", list(Mode))
def test_nothing_to_look_for_finds_nothing(index: Index, text: str, mode: Mode) -> None:
    index(*TEXTS)
    found = search(Query(text=text, mode=mode))
    assert (found.hits, found.confidence, found.candidates) == ((), 0.0, 0)


def test_an_empty_index_finds_nothing(model: HashEmbedder) -> None:
    assert search(Query(text="coffee")).hits == ()


def test_k_bounds_the_hits(index: Index) -> None:
    index(*[f"coffee number {n}" for n in range(20)])
    assert len(search(Query(text="coffee", k=3)).hits) == 3
    with override_settings(FASTRAG={"SEARCH_MAX_K": 5}):
        assert len(search(Query(text="coffee", k=50)).hits) == 5


def test_what_was_shown_already_can_be_excluded(index: Index) -> None:
    chunks = index(*[f"coffee number {n}" for n in range(6)])
    first = search(Query(text="coffee", k=3))
    shown = frozenset(hit.chunk_id for hit in first.hits)
    second = search(Query(text="coffee", k=6, exclude=shown))
    assert {hit.chunk_id for hit in second.hits} == {chunk.pk for chunk in chunks} - shown


def test_unit_document_gives_the_best_chunk_of_each_page(index: Index) -> None:
    index("coffee beans", "coffee beans and more of them")
    index("coffee cups", apart=True)
    found = search(Query(text="coffee beans", unit=Unit.DOCUMENT))
    assert texts(found) == ["coffee beans", "coffee cups"]


def test_a_minimal_score_cuts_the_tail(index: Index) -> None:
    index(*TEXTS)
    found = search(Query(text="brew coffee"))
    least = found.hits[0].score - 1e-6
    assert texts(search(Query(text="brew coffee", min_score=least))) == [TEXTS[0]]


def test_a_token_budget_is_kept(index: Index) -> None:
    index("coffee " * 100, "coffee " * 8, "coffee tea")
    found = search(Query(text="coffee", token_budget=20))
    assert found.hits
    assert sum(len(hit.text) for hit in found.hits) <= 80
    assert search(Query(text="coffee", token_budget=1)).hits == ()


def test_a_passage_and_its_copies_take_one_place(index: Index) -> None:
    index(*["coffee beans from Peru"] * 4, "coffee beans in white cups")
    for mode in (Mode.HYBRID, Mode.SPARSE):
        found = search(Query(text="coffee beans", k=2, mode=mode))
        assert sorted(texts(found)) == ["coffee beans from Peru", "coffee beans in white cups"]


# A dense leg that is out


def test_without_vectors_search_is_lexical_with_a_note(index: Index) -> None:
    index(*TEXTS, vectors=False)
    found = search(Query(text="brew coffee"))
    assert texts(found)[0] == TEXTS[0]
    assert found.notes == ("dense leg unavailable: the vectors are not computed yet",)


def test_while_vectors_are_computed_search_is_lexical_with_a_note(index: Index) -> None:
    index("coffee one")
    index("coffee two", "coffee three", vectors=False)
    found = search(Query(text="coffee"))
    assert len(found.hits) == 3
    assert found.notes == ("dense leg unavailable: 1 of 3 vectors are computed",)


def test_a_few_missing_vectors_do_not_matter(index: Index) -> None:
    index(*[f"coffee number {n}" for n in range(19)])
    index("coffee beans", vectors=False)
    found = search(Query(text="coffee beans"))
    assert found.notes == ()
    assert "coffee beans" in texts(found)


def test_an_embedder_that_fails_leaves_search_lexical(index: Index, model: HashEmbedder) -> None:
    index(*TEXTS)
    model.fails = True
    for mode in (Mode.HYBRID, Mode.DENSE):
        found = search(Query(text="brew coffee", mode=mode))
        assert texts(found)[0] == TEXTS[0]
        assert found.notes == ("dense leg unavailable: it is switched off",)


def test_vectors_of_another_embedder_are_not_used(index: Index) -> None:
    index(*TEXTS)
    IndexState.objects.update(embedder="another")
    assert "recall:dense" in [stage.name for stage in stages(Query(text="brew"))[0]]
    assert search(Query(text="brew")).hits[0].scores.dense is None


def test_a_language_that_the_embedder_does_not_know_is_searched_by_words(
    index: Index, model: HashEmbedder
) -> None:
    index("用户身份验证", "其他文字")
    seen, found = stages(Query(text="身份"))
    assert texts(found)[0] == "用户身份验证"
    assert "recall:dense" not in [stage.name for stage in seen]
    assert found.notes == ()


@override_settings(FASTRAG={"EMBEDDER": None})
def test_without_an_embedder_search_is_lexical_and_that_is_no_note(page: Page) -> None:
    chunk = ChunkFactory.create(page=page, text="brew coffee")
    sparse_index().add([chunk], languages=["en"])
    found = search(Query(text="coffee"))
    assert (texts(found), found.notes) == (["brew coffee"], ())


# Pages that went


def test_chunks_that_a_cascade_took_make_place_for_others(index: Index, page: Page) -> None:
    index(*[f"coffee number {n}" for n in range(10)])
    stays = PageFactory.create(language="en")
    chunk = ChunkFactory.create(page=stays, text="coffee stays")
    sparse_index().add([chunk], languages=["en"])
    search(Query(text="coffee"))
    page.delete()
    found = search(Query(text="coffee", k=3, candidate_k=3))
    assert texts(found) == ["coffee stays"]
    assert not Embedding.objects.exists()


def test_a_chunk_that_goes_during_the_search_is_left_out(index: Index) -> None:
    chunks = index("coffee one", "coffee two")
    steps = retrieve(Query(text="coffee"))
    for stage in steps:
        if stage.name.startswith("fuse"):
            Chunk.objects.filter(pk=chunks[0].pk).delete()
            break
    seen = list(steps)
    assert seen[-1].chunk_ids == (chunks[1].pk,)
    with suppress(StopIteration):
        next(steps)
