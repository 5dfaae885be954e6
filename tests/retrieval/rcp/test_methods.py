"""Params and results of the methods beside `retrieve`."""

from __future__ import annotations

from typing import Any

import pytest

from retrieval import rcp
from tests.retrieval.rcp import schema
from tests.retrieval.rcp.engine import initialize, request

C = rcp.Capability


def make(capability: rcp.Capability, method: str, handler: Any, **meta: Any) -> Any:
    """A function that calls one method of a fresh server and returns the whole reply."""
    server = rcp.Server()
    server.advertise(capability, meta)
    server.on(method, handler)
    server.handle(initialize())

    def call(**params: Any) -> Any:
        reply = server.handle(request(method, params))
        schema.check(reply, method=method)
        return reply

    return call


def failing(reply: Any) -> tuple[int, Any]:
    error = reply["error"]
    return error["code"], error["data"].get("field") or error["data"].get("option")


def vectors_of(params: dict[str, Any]) -> dict[str, Any]:
    return {"vectors": [[float(len(text)), 1.0] for text in params["inputs"]]}


def test_embed_takes_inputs_texts_and_text_blocks() -> None:
    embed = make(C.Embed, "embed", vectors_of)
    expected = {"vectors": [[1.0, 1.0], [2.0, 1.0]]}
    assert embed(inputs=["a", "bb"])["result"] == expected
    assert embed(texts=["a", "bb"])["result"] == expected
    assert embed(inputs=[{"type": "text", "text": "a"}, "bb"])["result"] == expected
    assert embed(inputs=["a", "bb"], texts=["ccc"], kind="query")["result"] == expected


@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({}, "inputs"),
        ({"inputs": "a"}, "inputs"),
        ({"inputs": ["a", 7]}, "inputs[1]"),
        ({"inputs": ["a"] * 5}, "inputs"),
        ({"inputs": ["a"], "kind": "passage"}, "kind"),
        ({"inputs": ["a"], "encoding": "f64"}, "encoding"),
    ],
)
def test_embed_names_a_bad_param(params: Any, field: str) -> None:
    embed = make(C.Embed, "embed", vectors_of, batchLimit=4)
    assert failing(embed(**params)) == (-32602, field)


def test_vectors_go_out_in_the_encoding_that_was_asked_for() -> None:
    embed = make(C.Embed, "embed", vectors_of, encodings=["json", "f32-base64"])
    result = embed(inputs=["a"], encoding="f32-base64")["result"]
    assert (result["encoding"], result["dimension"]) == ("f32-base64", 2)
    assert rcp.decode_vectors(**result) == [[1.0, 1.0]]


def test_the_encoding_is_echoed_where_there_is_no_vector_to_carry() -> None:
    def nothing(params: Any) -> Any:
        return {"vectors": [], "dimension": 2}

    offered = {"encodings": ["json", "f32-base64"]}
    result = make(C.Embed, "embed", nothing, **offered)(inputs=[], encoding="f32-base64")["result"]
    assert result == {"vectors": [], "dimension": 2, "encoding": "f32-base64"}
    unknown = make(C.Embed, "embed", vectors_of, **offered)(inputs=[], encoding="f32-base64")
    assert unknown["result"] == {"vectors": []}


def test_an_encoding_that_is_not_advertised_is_refused_or_noted() -> None:
    embed = make(C.Embed, "embed", vectors_of)
    assert failing(embed(inputs=["a"], encoding="f32-base64")) == (-32005, "encoding")
    result = embed(inputs=["a"], encoding="f32-base64", strict=False)["result"]
    assert result["vectors"] == [[1.0, 1.0]]
    assert "encoding" in result["usage"]["notes"][0]
    assert "result" in embed(inputs=["a"], encoding="json")


def lengths(params: dict[str, Any]) -> dict[str, Any]:
    return {"scores": [float(len(passage)) for passage in params["passages"]]}


def test_rerank_takes_passages_or_documents_and_answers_in_every_shape() -> None:
    rerank = make(C.Rerank, "rerank", lengths)
    for name in ("passages", "documents"):
        result = rerank(query="q", **{name: ["a", "ccc", "bb", "ddd"]}, topN=3)["result"]
        assert result["scores"] == [1.0, 3.0, 2.0, 3.0]
        assert result["order"] == [1, 3, 2]
        assert result["results"][0] == {"index": 1, "score": 3.0}


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({"passages": ["a"]}, (-32602, "query")),
        ({"query": "q"}, (-32602, "passages")),
        ({"query": "q", "passages": ["a"] * 4}, (-32602, "passages")),
        ({"query": "q", "passages": ["a"], "topN": 0}, (-32602, "topN")),
        ({"query": "q", "passages": ["a"], "method": "bm25"}, (-32602, "method")),
        ({"query": "q", "passages": ["a"], "method": "llm"}, (-32005, "method")),
    ],
)
def test_rerank_names_a_bad_param(params: Any, expected: Any) -> None:
    rerank = make(C.Rerank, "rerank", lengths, methods=["colbert"], maxCandidates=3)
    assert failing(rerank(**params)) == expected


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({}, (-32602, "documents")),
        ({"documents": [{"id": "a"}]}, (-32602, "documents[0].text")),
        ({"documents": [{"id": 7, "text": "t"}]}, (-32602, "documents[0].id")),
        ({"documents": [{"text": "t", "meta": []}]}, (-32602, "documents[0].meta")),
        ({"documents": [{"text": "\ud800"}]}, (-32602, "documents[0].text")),
        ({"documents": [], "chunk": True}, (-32005, "chunk")),
    ],
)
def test_index_add_names_a_bad_param(params: Any, expected: Any) -> None:
    add = make(C.Index, "index/add", lambda params: {"ids": []}, writable=True)
    assert failing(add(**params)) == expected


def test_index_methods_pass_what_is_right() -> None:
    add = make(C.Index, "index/add", lambda p: {"ids": [d["id"] for d in p["documents"]]})
    assert add(documents=[{"id": "a", "text": "t"}], chunk=False)["result"] == {"ids": ["a"]}
    delete = make(C.Index, "index/delete", lambda p: {"deleted": len(p["ids"])})
    assert delete(ids=["a"])["result"] == {"deleted": 1}
    assert failing(delete(ids=[7])) == (-32602, "ids[0]")


def test_a_read_only_index_takes_no_documents() -> None:
    add = make(C.Index, "index/add", lambda params: {"ids": []}, writable=False)
    assert add(documents=[])["error"]["code"] == -32003


@pytest.mark.parametrize(
    ("signal", "field"),
    [
        ({}, "signals[0].hitId"),
        ({"hitId": True}, "signals[0].hitId"),
        ({"hitId": "a", "used": 1}, "signals[0].used"),
        ({"hitId": "a", "reward": 1.5}, "signals[0].reward"),
    ],
)
def test_feedback_names_a_bad_signal(signal: Any, field: str) -> None:
    feedback = make(C.Feedback, "feedback", lambda params: {"accepted": 1})
    assert failing(feedback(signals=[signal])) == (-32602, field)
    assert feedback(signals=[{"hitId": 7, "reward": -1}])["result"] == {"accepted": 1}


def test_transform_needs_an_advertised_method() -> None:
    transform = make(
        C.Transform, "query/transform", lambda p: {"queries": [p["query"]]}, methods=["hyde"]
    )
    assert transform(query="q", method="hyde")["result"] == {"queries": ["q"]}
    assert failing(transform(query="q", method="rewrite")) == (-32005, "method")
    assert failing(transform(query="q", method="magic")) == (-32602, "method")


@pytest.mark.parametrize(
    ("capability", "method", "good", "bad", "field"),
    [
        (C.Graph, "graph", {"op": "local", "k": 3}, {"op": "around"}, "op"),
        (C.Memory, "memory/build", {"scope": "global"}, {"scope": "all"}, "scope"),
        (C.Memory, "memory/recall", {"query": "q", "n": 2}, {"query": "q", "n": 0}, "n"),
        (C.SparseEmbed, "embed/sparse", {"inputs": ["a"]}, {"inputs": [7]}, "inputs[0]"),
        (C.MultiVector, "embed/multi", {"inputs": ["a"]}, {}, "inputs"),
    ],
)
def test_the_other_methods_check_what_they_take(
    capability: Any, method: str, good: Any, bad: Any, field: str
) -> None:
    results = {
        "graph": {"hits": []},
        "memory/build": {"memoryId": "m"},
        "memory/recall": {"clues": []},
        "embed/sparse": {"sparse": []},
        "embed/multi": {"matrices": []},
    }
    call = make(capability, method, lambda params: results[method])
    assert "result" in call(**good)
    assert failing(call(**bad)) == (-32602, field)


def test_content_blocks_of_a_query_reach_the_handler_as_text() -> None:
    seen: list[Any] = []

    def retrieve(params: dict[str, Any]) -> Any:
        seen.append(params["query"])
        return {"hits": []}

    call = make(C.Retrieve, "retrieve", retrieve)
    block = {"type": "text", "text": "tower"}
    for query in ("tower", block, [block, {"type": "text", "text": "of steel"}]):
        assert "result" in call(query=query, k=1)
    assert seen == ["tower", "tower", "tower\nof steel"]
