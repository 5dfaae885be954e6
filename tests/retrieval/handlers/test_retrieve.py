"""`retrieve`: every option does what it says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import override_settings

from retrieval.handlers.server import local_server
from retrieval.pipeline.pack import approximate_tokens
from tests.retrieval.handlers.conftest import Engine

OUT = {"EMBEDDER": {"BACKEND": "tests.retrieval.handlers.parts.SwitchedOff"}}
RERANKER = {"RERANKER": {"BACKEND": "tests.retrieval.handlers.parts.ByLength"}}


def descending(numbers: list[float]) -> bool:
    return numbers == sorted(numbers, reverse=True)


def test_the_passage_that_answers_comes_first(engine: Engine) -> None:
    said = engine.retrieve("At which pressure does the safety valve open?")
    assert said.pages[0] == "valves"
    assert "nine bar" in said.hits[0]["text"]


def test_hits_are_best_first_and_unique_and_within_k(engine: Engine) -> None:
    said = engine.retrieve(k=4)
    assert len(said.hits) == 4
    assert descending([hit["score"] for hit in said.hits])
    assert len(set(said.ids)) == 4


@pytest.mark.parametrize("mode", ["dense", "sparse", "hybrid"])
def test_each_mode_searches_by_its_legs(engine: Engine, mode: str) -> None:
    said = engine.retrieve("gas flame", mode=mode)
    assert said.pages[0] == "boiler"
    expected = {"hybrid": {"dense", "sparse"}}.get(mode, {mode})
    assert set(said.hits[0]["scores"]) == expected


@pytest.mark.parametrize(
    "fusion",
    [
        {"method": "rrf", "rrfK": 10},
        {"method": "rrf", "weights": {"dense": 0.2, "sparse": 1.0}},
        {"method": "weighted", "weights": {"dense": 1.0, "sparse": 2.0}},
        {"method": "convex", "alpha": 0.3},
        {"method": "convex", "weights": {"dense": 1.0, "sparse": 3.0}},
    ],
    ids=lambda fusion: "-".join(fusion),
)
def test_each_fusion_ranks(engine: Engine, fusion: dict[str, Any]) -> None:
    said = engine.retrieve("gas flame of the boiler", fusion=fusion)
    assert said.pages[0] == "boiler"
    assert descending([hit["score"] for hit in said.hits])


def test_rrf_scores_are_the_sum_of_inverse_ranks(engine: Engine) -> None:
    said = engine.retrieve("gas flame of the boiler", fusion={"method": "rrf", "rrfK": 60})
    assert said.hits[0]["score"] == pytest.approx(2 / 61)


def test_alpha_one_is_the_order_of_the_dense_leg(engine: Engine) -> None:
    dense = engine.retrieve("How hot?", mode="dense")
    convex = engine.retrieve("How hot?", fusion={"method": "convex", "alpha": 1.0})
    assert convex.ids == dense.ids


def test_a_weight_for_a_leg_that_there_is_not_is_refused(engine: Engine) -> None:
    error = engine.retrieve(fusion={"method": "rrf", "weights": {"graph": 1.0}}).error
    assert (error["code"], error["data"]["field"]) == (-32602, "fusion.weights.graph")


def test_convex_weights_of_nothing_are_refused(engine: Engine) -> None:
    error = engine.retrieve(fusion={"weights": {"dense": 0, "sparse": 0}}).error
    assert (error["code"], error["data"]["field"]) == (-32602, "fusion.weights")


def test_k_beyond_the_limit_is_clamped(engine: Engine) -> None:
    limit = engine.server.capabilities["retrieve"]["maxK"]
    assert len(engine.retrieve(k=limit + 1).hits) <= limit


def test_a_funnel_that_widens_is_refused(engine: Engine) -> None:
    error = engine.retrieve(k=5, candidateK=3).error
    assert (error["code"], error["data"]["field"]) == (-32602, "candidateK")


def test_candidate_k_bounds_what_is_looked_at(engine: Engine) -> None:
    few = engine.retrieve(k=2, mode="sparse", candidateK=2).result["usage"]["candidates"]
    assert few == 2 < engine.retrieve(k=2, mode="sparse").result["usage"]["candidates"]


def test_mmr_prefers_what_is_not_said_yet(engine: Engine) -> None:
    twin = "The kettle is red. It boils water for tea. The night shift drinks the tea."
    engine.add({"id": "one", "text": twin}, {"id": "two", "text": f"{twin} Always."})
    alike = [hit["chunk"]["docId"] for hit in engine.retrieve("red kettle for tea", k=2).hits]
    assert set(alike) == {"one", "two"}
    varied = engine.retrieve("red kettle for tea", k=2, mmr={"lambda": 0.1})
    assert len({hit["chunk"]["docId"] for hit in varied.hits} & {"one", "two"}) == 1


def test_min_score_cuts_the_tail(engine: Engine) -> None:
    scores = [hit["score"] for hit in engine.retrieve(k=10).hits]
    assert [h["score"] for h in engine.retrieve(k=10, minScore=scores[2]).hits] == scores[:3]


def test_unit_document_gives_each_document_once(engine: Engine) -> None:
    said = engine.retrieve("pump", k=10, unit="document")
    assert len(set(said.pages)) == len(said.pages)
    assert all(hit["unit"] == "document" for hit in said.hits)
    assert said.ids == [hit["chunk"]["docId"] for hit in said.hits]
    assert said.ids[0] == "https://plant.example/pumps"


def test_unit_chunk_is_the_default(engine: Engine) -> None:
    said = engine.retrieve("pump", k=10)
    assert {hit["unit"] for hit in said.hits} == {"chunk"}
    assert said.pages.count("pumps") > 1


def test_the_token_budget_is_kept(engine: Engine) -> None:
    said = engine.retrieve(k=10, tokenBudget=120)
    assert 0 < sum(approximate_tokens(hit["text"]) for hit in said.hits) <= 120
    assert said.result["usage"]["tokens"] <= 120


def test_confidence_lies_between_zero_and_one(engine: Engine) -> None:
    said = engine.retrieve("water pump pressure gauge", k=10)
    confidences = [hit["confidence"] for hit in said.hits]
    assert all(0.0 <= confidence <= 1.0 for confidence in confidences)
    assert confidences[0] > confidences[-1]


def test_text_is_left_out_on_request(engine: Engine) -> None:
    assert all("text" not in hit for hit in engine.retrieve(includeText=False).hits)


def test_vectors_come_on_request_and_are_those_of_the_index(engine: Engine) -> None:
    plain, rich = engine.retrieve(), engine.retrieve(includeVectors=True)
    assert all("vector" not in hit for hit in plain.hits)
    dimension = engine.server.capabilities["embed"]["dimension"]
    for hit in rich.hits:
        assert len(hit["vector"]) == dimension
        assert sum(number**2 for number in hit["vector"]) == pytest.approx(1.0, abs=1e-3)


def test_the_same_question_has_the_same_answer(engine: Engine) -> None:
    first, again = engine.retrieve(k=10, seed=7), engine.retrieve(k=10, seed=7)
    assert first.hits == again.hits


def test_recency_favours_the_newer_page(engine: Engine) -> None:
    boiler = {"field": "title", "op": "in", "value": ["Boiler", "Valves"]}
    plain = engine.retrieve("water and steam boiler", filter=boiler, unit="document")
    assert plain.pages == ["boiler", "valves"]
    recency = {"field": "changedAt", "halfLifeDays": 20}
    aged = engine.retrieve(
        "water and steam boiler", filter=boiler, unit="document", recency=recency
    )
    assert aged.pages == ["valves", "boiler"]
    assert aged.hits[0]["score"] == pytest.approx(plain.hits[1]["score"] / 4, rel=0.01)


def test_recency_knows_the_dates_of_documents(engine: Engine) -> None:
    text = "The turbine spins at three thousand turns."
    engine.add(
        {"id": "old", "text": text, "meta": {"published": "2001-05-01"}},
        {"id": "new", "text": f"{text} Still.", "meta": {"published": "2026-05-01T10:00:00Z"}},
    )
    recency = {"field": "published", "halfLifeDays": 365}
    dated = {"field": "published", "op": "exists"}
    said = engine.retrieve("turbine turns", filter=dated, recency=recency)
    assert [hit["chunk"]["docId"] for hit in said.hits] == ["new", "old"]


@pytest.mark.parametrize("field", ["title", "nothing"])
def test_recency_by_what_is_no_date_is_refused(engine: Engine, field: str) -> None:
    error = engine.retrieve(recency={"field": field, "halfLifeDays": 1}).error
    assert (error["code"], error["data"]["field"]) == (-32602, "recency.field")


@pytest.mark.parametrize("query", ["", "   ", "?!", "\0", "NOT (", 'a"b', "C++", "*" * 9_000])
def test_any_text_is_a_safe_query(engine: Engine, query: str) -> None:
    assert isinstance(engine.retrieve(query).hits, list)


def test_a_query_may_be_content_blocks(engine: Engine) -> None:
    said = engine.ask("retrieve", query=[{"type": "text", "text": "gas flame"}], k=1)
    assert said.pages == ["boiler"]


def test_an_option_that_is_not_offered_is_refused_or_noted(engine: Engine) -> None:
    assert engine.retrieve(rerank={"topN": 5}).error["data"]["option"] == "rerank"
    lenient = engine.retrieve(rerank={"topN": 5}, unit="page", strict=False)
    notes = " ".join(lenient.result["usage"]["notes"])
    assert lenient.hits
    assert "rerank" in notes
    assert "unit" in notes


def test_usage_says_what_was_done(engine: Engine) -> None:
    usage = engine.retrieve().result["usage"]
    assert usage["candidates"] >= 5
    assert usage["latencyMs"] >= 0
    assert usage["reranked"] == 0
    assert usage["tokens"] > 0


# Backends that are out


def test_hybrid_goes_on_by_words_alone_and_says_so(engine: Engine) -> None:
    with override_settings(FASTRAG=OUT):
        said = engine.retrieve("gas flame")
    assert said.pages[0] == "boiler"
    assert "dense leg unavailable" in said.result["usage"]["notes"][0]


def test_the_dense_leg_alone_is_not_swapped_for_another(engine: Engine) -> None:
    with override_settings(FASTRAG=OUT):
        error = engine.retrieve("gas flame", mode="dense").error
    assert (error["code"], error["data"]["retryable"]) == (-32010, True)


def test_unless_the_caller_is_not_strict(engine: Engine) -> None:
    with override_settings(FASTRAG=OUT):
        said = engine.retrieve("gas flame", mode="dense", strict=False)
    assert said.pages[0] == "boiler"
    assert "dense leg unavailable" in said.result["usage"]["notes"][0]


@pytest.fixture
def reranking(engine: Engine) -> Iterator[Engine]:
    with override_settings(FASTRAG=RERANKER):
        server = local_server()
        yield Engine(server)
        server.close()


def test_a_reranker_orders_the_best_candidates_anew(reranking: Engine) -> None:
    said = reranking.retrieve("pump", k=3, rerank={"method": "cross-encoder", "topN": 4})
    lengths = [len(hit["text"]) for hit in said.hits]
    assert descending(lengths)
    assert [hit["scores"]["rerank"] for hit in said.hits] == lengths
    assert said.result["usage"]["reranked"] == 4


def test_false_leaves_the_order_of_fusion(reranking: Engine) -> None:
    said = reranking.retrieve("pump", k=3, rerank=False)
    assert all("rerank" not in hit["scores"] for hit in said.hits)
    assert said.result["usage"]["reranked"] == 0


def test_the_reranker_reads_no_fewer_than_are_wanted(reranking: Engine) -> None:
    error = reranking.retrieve(k=5, rerank={"topN": 2}).error
    assert (error["code"], error["data"]["field"]) == (-32602, "rerank.topN")


@pytest.mark.parametrize("funnel", [{"candidateK": 3}, {"candidateK": 3, "mode": "sparse"}])
def test_without_k_no_more_hits_come_than_candidates_were_asked_for(
    engine: Engine, funnel: dict[str, Any]
) -> None:
    assert len(engine.ask("retrieve", query="pump pressure", **funnel).hits) == 3
    assert len(engine.ask("retrieve", query="pump pressure", candidateK=50).hits) > 3


@pytest.mark.parametrize(
    ("limits", "note"),
    [
        ({"tokenBudget": 1}, "no hit fits within tokenBudget"),
        ({"tokenBudget": 1, "minScore": 0}, "no hit fits within minScore and tokenBudget"),
    ],
)
def test_a_budget_that_no_hit_fits_is_said_in_the_notes(
    engine: Engine, limits: dict[str, Any], note: str
) -> None:
    result = engine.retrieve(**limits).result
    assert (result["hits"], result["usage"]["notes"]) == ([], [note])
    assert "notes" not in engine.retrieve(tokenBudget=500).result["usage"]
