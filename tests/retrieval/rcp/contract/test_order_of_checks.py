"""RCP.md, section 2: the order of checks for a request."""

from __future__ import annotations

import time
from typing import Any

import pytest

from retrieval import rcp
from tests.retrieval.rcp.engine import Engine, request, retrieve
from tests.retrieval.rcp.wires import OPENERS, Wire

KNOWN_METHODS = [
    "rerank", "embed", "embed/sparse", "embed/multi", "index/add", "index/delete", "feedback",
    "query/transform", "graph", "memory/build", "memory/recall", "catalog/list",
]  # fmt: skip


def code(reply: Any) -> Any:
    return reply["error"]["code"]


@pytest.mark.parametrize("method", ["retrieve", "no/such", "embed", "x-vendor/do"])
def test_before_initialize_every_method_is_not_initialized(fresh: Wire, method: str) -> None:
    if fresh.stateless:
        pytest.skip("every request counts as initialized")
    assert code(fresh.start(request(method, {})).reply()) == -32001


@pytest.mark.parametrize(
    "method", ["no/such", "Retrieve", "retrieve ", "x-vendor/do", "tools/list"]
)
def test_a_method_unknown_to_the_protocol(wire: Wire, method: str) -> None:
    assert code(wire.start(request(method, {})).reply()) == -32004


@pytest.mark.parametrize("method", KNOWN_METHODS)
def test_a_known_method_that_is_not_advertised(wire: Wire, method: str) -> None:
    assert code(wire.start(request(method, {"bad": True})).reply()) == -32003


def test_an_advertised_method_without_a_handler(wire: Wire, engine: Engine) -> None:
    engine.server.advertise(rcp.Capability.Rerank)
    params = {"query": "q", "passages": ["a"]}
    assert code(wire.start(request("rerank", params)).reply()) == -32003


def test_a_handler_whose_capability_is_not_advertised(wire: Wire, engine: Engine) -> None:
    engine.server.on("embed", lambda params: {"vectors": [[1.0]]})
    assert code(wire.start(request("embed", {"inputs": ["a"]})).reply()) == -32003


def test_a_vendor_method_with_a_handler_is_called(wire: Wire, engine: Engine) -> None:
    engine.server.on("x-vendor/do", lambda params: {"got": params})
    assert wire.start(request("x-vendor/do", {"a": 1})).reply()["result"] == {"got": {"a": 1}}


@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({}, "query"),
        ({"query": None}, "query"),
        ({"query": 7}, "query"),
        ({"query": {"type": "image", "uri": "x"}}, "query.type"),
        ({"query": "q", "k": 0}, "k"),
        ({"query": "q", "k": -1}, "k"),
        ({"query": "q", "k": 2.5}, "k"),
        ({"query": "q", "k": "3"}, "k"),
        ({"query": "q", "k": True}, "k"),
        ({"query": "q", "candidateK": 0}, "candidateK"),
        ({"query": "q", "mode": 7}, "mode"),
        ({"query": "q", "fusion": []}, "fusion"),
        ({"query": "q", "fusion": {"method": "rrf", "rrfK": 0}}, "fusion.rrfK"),
        ({"query": "q", "fusion": {"method": "rrf", "weights": {"dense": -1}}},
         "fusion.weights.dense"),
        ({"query": "q", "fusion": {"alpha": 1.5}}, "fusion.alpha"),
        ({"query": "q", "rerank": True}, "rerank"),
        ({"query": "q", "mmr": {"lambda": 2}}, "mmr.lambda"),
        ({"query": "q", "minScore": "0.5"}, "minScore"),
        ({"query": "q", "recency": {"field": "date"}}, "recency.halfLifeDays"),
        ({"query": "q", "recency": {"field": "date", "halfLifeDays": 0}}, "recency.halfLifeDays"),
        ({"query": "q", "tokenBudget": 0}, "tokenBudget"),
        ({"query": "q", "includeText": "yes"}, "includeText"),
        ({"query": "q", "seed": 1.5}, "seed"),
        ({"query": "q", "strict": 0}, "strict"),
        ({"query": "q", "_meta": []}, "_meta"),
    ],
)  # fmt: skip
def test_a_bad_param_is_named(wire: Wire, params: Any, field: str) -> None:
    reply = wire.start(request("retrieve", params)).reply()
    assert (code(reply), reply["error"]["data"]["field"]) == (-32602, field)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("mode", "dense"),
        ("fusion", {"method": "convex"}),
        ("rerank", {"method": "colbert"}),
        ("mmr", {"lambda": 0.5}),
        ("unit", "document"),
        ("tokenBudget", 100),
        ("rewrite", "hyde"),
        ("filter", {"field": "lang", "op": "eq", "value": "en"}),
        ("sessionId", "s"),
        ("cursor", "c"),
    ],
)
def test_an_option_that_is_not_advertised_is_refused_or_noted(
    wire: Wire, engine: Engine, option: str, value: Any
) -> None:
    reply = wire.start(retrieve(**{option: value})).reply()
    assert code(reply) == -32005
    assert reply["error"]["data"]["option"].startswith(option)
    assert engine.seen == []
    result = wire.start(retrieve(**{option: value, "strict": False}, id_=2)).reply()["result"]
    assert result["hits"]
    assert option in result["usage"]["notes"][0]
    assert option not in engine.seen[-1]


@pytest.mark.parametrize(
    ("option", "value"), [("mode", "dense"), ("filter", {}), ("rewrite", "hyde"), ("cursor", "c")]
)
def test_an_option_is_checked_where_it_stands_beside_the_query_alone(
    wire: Wire, option: str, value: Any
) -> None:
    assert code(wire.start(request("retrieve", {"query": "q", option: value})).reply()) == -32005


def test_switching_an_option_off_needs_no_capability(wire: Wire) -> None:
    assert "result" in wire.start(retrieve(rerank=False, rewrite=False)).reply()


def test_k_beyond_the_advertised_maximum_is_clamped(wire: Wire, engine: Engine) -> None:
    assert "result" in wire.start(retrieve(k=5_000)).reply()
    assert engine.seen[-1]["k"] == 10


@pytest.mark.parametrize(
    ("funnel", "field"),
    [
        ({"candidateK": 2, "k": 3}, "candidateK"),
        ({"candidateK": 5, "rerank": {"topN": 6}, "k": 3}, "candidateK"),
        ({"candidateK": 9, "rerank": {"topN": 2}, "k": 3}, "rerank.topN"),
    ],
)
def test_a_funnel_that_widens_is_an_invalid_param(
    wire: Wire, engine: Engine, funnel: dict[str, Any], field: str
) -> None:
    engine.server.advertise(rcp.Capability.Retrieve, {"maxK": 10, "rerankBuiltin": True})
    reply = wire.start(request("retrieve", {"query": "q", **funnel})).reply()
    assert (code(reply), reply["error"]["data"]["field"]) == (-32602, field)


def test_an_error_of_the_handler_keeps_its_code_and_data(wire: Wire) -> None:
    error = wire.start(retrieve("fail:rcp")).reply()["error"]
    assert error == {
        "code": -32015,
        "message": "no such collection",
        "data": {"detail": "c1"},
    }


def test_a_backend_that_is_down_is_retryable(wire: Wire) -> None:
    error = wire.start(retrieve("fail:backend"), stream=False).reply()["error"]
    assert error["code"] == -32010
    assert error["data"] == {"retryable": True, "retryAfterMs": 1500}


def test_a_refused_connection_counts_as_a_backend_that_is_down(
    wire: Wire, caplog: pytest.LogCaptureFixture
) -> None:
    error = wire.start(retrieve("fail:refused")).reply()["error"]
    assert error["code"] == -32010
    assert "hunter2" not in str(error)
    assert "hunter2" in caplog.text


def test_any_other_exception_is_hidden_from_the_wire_and_logged(
    wire: Wire, caplog: pytest.LogCaptureFixture
) -> None:
    error = wire.start(retrieve("fail:bug")).reply()["error"]
    assert error == {"code": -32603, "message": "Internal error"}
    assert "/etc/passwd" in caplog.text


@pytest.mark.parametrize("result", [None, [], "text", {"hits": object()}, {"hits": {1, 2}}])
def test_a_result_that_is_no_object_of_json_is_an_internal_error(
    wire: Wire, engine: Engine, result: Any
) -> None:
    engine.server.on("retrieve", lambda params: result)
    assert code(wire.start(retrieve()).reply()) == -32603


@pytest.mark.parametrize("query", ["hold", "hold-async"])
@pytest.mark.parametrize("transport", sorted(OPENERS))
def test_a_request_that_takes_too_long_times_out_and_its_handler_is_closed(
    transport: str, query: str
) -> None:
    engine = Engine(limits=rcp.Limits(deadline_seconds=0.1))
    with OPENERS[transport](engine.server) as wire:
        wire.start(request("initialize", {"protocolVersion": 1}, id_=0)).reply()
        begun = time.monotonic()
        reply = wire.start(retrieve(query)).reply()
        assert code(reply) == -32014
        assert time.monotonic() - begun < 5
        assert engine.closed.acquire(timeout=5)
    engine.server.close()


def test_a_refused_caller_is_told_before_gating_and_before_validation(
    wire: Wire, engine: Engine
) -> None:
    @engine.server.guard
    def guard(caller: rcp.Caller, method: str) -> None:
        if method not in ("ping", "info"):
            raise rcp.Unauthorized("not for you")

    for method in ("embed", "no/such", "retrieve"):
        assert code(wire.start(request(method, {"k": 0})).reply()) == -32012
    assert "result" in wire.start(request("ping")).reply()


def test_a_guard_that_fails_refuses_without_telling_why(
    wire: Wire, engine: Engine, caplog: pytest.LogCaptureFixture
) -> None:
    engine.server.guard(lambda caller, method: {}[method])  # type: ignore[index]
    assert code(wire.start(retrieve()).reply()) == -32603
