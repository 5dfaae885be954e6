"""`embed` and `rerank`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from django.test import override_settings

from retrieval import rcp
from retrieval.embedding import embedder
from retrieval.handlers.server import local_server
from tests.retrieval.handlers.conftest import Engine
from tests.retrieval.handlers.test_retrieve import OUT, RERANKER

PASSAGES = ["A recipe for apple cake.", "The pump makes five bar.", "Cats sleep a lot."]


def test_vectors_are_the_models_own(engine: Engine) -> None:
    result = engine.ask("embed", inputs=["five bar", "a cat"], kind="query").result
    model = embedder()
    assert model is not None
    np.testing.assert_allclose(result["vectors"][0], model.embed_query("five bar"), atol=1e-6)
    assert result["dimension"] == model.dimension


def test_they_have_unit_length_as_advertised(engine: Engine) -> None:
    assert engine.server.capabilities["embed"]["normalized"] is True
    vectors = engine.ask("embed", texts=["five bar", "a cat"]).result["vectors"]
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-4)


def test_base64_carries_the_same_numbers(engine: Engine) -> None:
    plain = engine.ask("embed", inputs=["five bar"]).result
    packed = engine.ask("embed", inputs=["five bar"], encoding="f32-base64").result
    assert packed["encoding"] == "f32-base64"
    (vector,) = rcp.decode_vectors(packed["vectors"], packed["encoding"], packed["dimension"])
    np.testing.assert_allclose(vector, plain["vectors"][0], atol=1e-6)


def test_no_texts_have_no_vectors(engine: Engine) -> None:
    assert engine.ask("embed", inputs=[]).result["vectors"] == []
    packed = engine.ask("embed", inputs=[], encoding="f32-base64").result
    assert (packed["vectors"], packed["encoding"]) == ([], "f32-base64")
    assert packed["dimension"] > 0
    assert engine.ask("rerank", query="x", passages=[]).result["scores"] == []


@pytest.mark.parametrize(
    ("method", "params", "field"),
    [
        ("embed", {"inputs": ["x"] * 65}, "inputs"),
        ("embed", {"inputs": "x"}, "inputs"),
        ("embed", {}, "inputs"),
        ("embed", {"inputs": ["x"], "kind": "other"}, "kind"),
        ("rerank", {"query": "x", "passages": ["x"] * 65}, "passages"),
        ("rerank", {"query": "x"}, "passages"),
        ("rerank", {"passages": ["x"]}, "query"),
        ("rerank", {"query": "x", "passages": ["x"], "topN": 0}, "topN"),
    ],
)
def test_wrong_params_are_named(
    engine: Engine, method: str, params: dict[str, Any], field: str
) -> None:
    error = engine.ask(method, **params).error
    assert (error["code"], error["data"]["field"]) == (-32602, field)


def test_many_texts_report_how_far_they_are(engine: Engine) -> None:
    stages = engine.ask("embed", inputs=["a pump"] * 20, token="t").stages
    assert [frame["message"] for frame in stages] == ["16 of 20 texts", "20 of 20 texts"]


@pytest.mark.parametrize("name", ["passages", "documents"])
def test_rerank_puts_the_passage_that_bears_on_the_query_first(engine: Engine, name: str) -> None:
    result = engine.ask("rerank", query="How much pressure?", **{name: PASSAGES}).result
    assert len(result["scores"]) == 3
    assert result["order"][0] == 1
    assert result["results"][0] == {"index": 1, "score": result["scores"][1]}


def test_top_n_bounds_the_order_and_not_the_scores(engine: Engine) -> None:
    result = engine.ask("rerank", query="pressure", passages=PASSAGES, topN=2).result
    assert len(result["scores"]) == 3
    assert len(result["order"]) == len(result["results"]) == 2


def test_comparing_vectors_is_not_called_a_cross_encoder(engine: Engine) -> None:
    model = embedder()
    assert model is not None
    rerank = engine.server.capabilities["rerank"]
    assert rerank["methods"] == []
    assert rerank["models"] == [model.identity]
    error = engine.ask("rerank", query="x", passages=["x"], method="cross-encoder").error
    assert (error["code"], error["data"]["option"]) == (-32005, "method")


def test_a_configured_reranker_is_the_one_that_scores(engine: Engine) -> None:
    with override_settings(FASTRAG=RERANKER):
        server = local_server()
        assert server.capabilities["rerank"]["methods"] == ["cross-encoder"]
        result = Engine(server).ask(
            "rerank", query="x", passages=["aa", "a", "aaa"], method="cross-encoder"
        )
        server.close()
    assert result.result["scores"] == [2.0, 1.0, 3.0]
    assert result.result["order"] == [2, 0, 1]


@pytest.mark.parametrize(
    ("method", "params"),
    [("embed", {"inputs": ["x"]}), ("rerank", {"query": "x", "passages": ["x"]})],
)
def test_a_model_that_is_out_is_a_backend_that_is_out(
    engine: Engine, method: str, params: dict[str, Any]
) -> None:
    with override_settings(FASTRAG=OUT):
        error = engine.ask(method, **params).error
    assert (error["code"], error["message"]) == (-32010, "it is switched off")
    assert error["data"]["retryable"] is True
