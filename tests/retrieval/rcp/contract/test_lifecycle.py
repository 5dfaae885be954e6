"""RCP.md, section 3: lifecycle."""

from __future__ import annotations

from typing import Any

import pytest

from tests.retrieval.rcp.engine import Engine, initialize, request, retrieve
from tests.retrieval.rcp.wires import Wire


def code(reply: Any) -> Any:
    return reply["error"]["code"]


def versioned(version: Any) -> dict[str, Any]:
    return request("initialize", {"protocolVersion": version}, id_=1)


def test_initialize_tells_version_server_capabilities_and_conformance(fresh: Wire) -> None:
    result = fresh.start(initialize()).reply()["result"]
    assert result["protocolVersion"] == 1
    assert result["server"] == {"name": "test-engine", "version": "1.0"}
    assert result["capabilities"]["retrieve"]["maxK"] == 10
    assert result["capabilities"]["streaming"] == {}
    assert result["_meta"]["conformance"] == "L2"


def test_the_version_is_the_lower_of_both(fresh: Wire) -> None:
    assert fresh.start(versioned(7)).reply()["result"]["protocolVersion"] == 1


@pytest.mark.parametrize("version", [0, -1])
def test_a_version_below_one_is_a_mismatch_and_may_be_retried(fresh: Wire, version: int) -> None:
    assert code(fresh.start(versioned(version)).reply()) == -32002
    if not fresh.stateless:
        assert code(fresh.start(retrieve(id_=2)).reply()) == -32001
    assert "result" in fresh.start(initialize(3)).reply()


@pytest.mark.parametrize("version", ["1", 1.5, True, None, []])
def test_a_mistyped_version_is_an_invalid_param(fresh: Wire, version: Any) -> None:
    reply = fresh.start(versioned(version)).reply()
    assert (code(reply), reply["error"]["data"]["field"]) == (-32602, "protocolVersion")


def test_a_second_initialize_is_an_invalid_request(wire: Wire) -> None:
    reply = wire.start(initialize()).reply()
    if wire.stateless:
        assert "result" in reply
    else:
        assert code(reply) == -32600


def test_info_has_the_same_shape_and_changes_nothing(fresh: Wire) -> None:
    told = fresh.start(request("info")).reply()["result"]
    if not fresh.stateless:
        assert code(fresh.start(retrieve(id_=2)).reply()) == -32001
    result = fresh.start(initialize(3)).reply()["result"]
    assert {name: result[name] for name in ("protocolVersion", "server", "capabilities")} == {
        name: told[name] for name in ("protocolVersion", "server", "capabilities")
    }


@pytest.mark.parametrize("nonce", ["n", "", 0, 7, 1.5])
def test_ping_echoes_its_nonce_at_any_time(fresh: Wire, nonce: Any) -> None:
    assert fresh.start(request("ping", {"nonce": nonce})).reply()["result"] == {"nonce": nonce}


def test_ping_without_a_nonce_answers_nothing(fresh: Wire) -> None:
    assert fresh.start(request("ping")).reply()["result"] == {}


def test_a_mistyped_nonce_is_an_invalid_param(fresh: Wire) -> None:
    reply = fresh.start(request("ping", {"nonce": [1]})).reply()
    assert (code(reply), reply["error"]["data"]["field"]) == (-32602, "nonce")


def test_shutdown_answers_and_then_no_request_is_processed(wire: Wire, engine: Engine) -> None:
    assert wire.start(request("shutdown", {})).reply()["result"] == {}
    if wire.stateless:
        assert "result" in wire.start(retrieve(id_=2)).reply()
    elif not hasattr(wire, "_sink"):  # over stdio the server is gone by then
        assert "error" in wire.start(retrieve(id_=2)).reply()
        assert engine.seen == []
