"""RCP.md, section 1: messages."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from retrieval import rcp
from tests.retrieval.rcp.engine import Engine, cancel, request, retrieve
from tests.retrieval.rcp.wires import Wire

IDS = [0, "", 1, -7, 1.5, "1", "x" * 300, 2**53, "ключ", "\u2028"]


def error_code(reply: Any) -> Any:
    return reply["error"]["code"]


@pytest.mark.parametrize("id_", IDS)
def test_an_id_is_echoed_with_its_type_and_value(wire: Wire, id_: Any) -> None:
    for message in (retrieve(id_=id_), request("ping", id_=id_)):
        reply = wire.start(message).reply()
        assert "result" in reply
        assert (type(reply["id"]), reply["id"]) == (type(id_), id_)


@pytest.mark.parametrize("id_", ["true", "false", "null", "{}", "[]", '{"a":1}'])
def test_an_id_that_is_neither_string_nor_number_is_refused_without_id(
    wire: Wire, id_: str
) -> None:
    text = f'{{"jsonrpc":"2.0","id":{id_},"method":"ping"}}'
    (reply,) = wire.send_raw(text.encode())
    assert reply["id"] is None
    assert error_code(reply) == -32600


@pytest.mark.parametrize("params", ["[]", '"text"', "7", "true"])
def test_params_must_be_an_object(wire: Wire, params: str) -> None:
    text = f'{{"jsonrpc":"2.0","id":5,"method":"retrieve","params":{params}}}'
    (reply,) = wire.send_raw(text.encode())
    assert (reply["id"], error_code(reply)) == (5, -32600)


def test_unknown_fields_and_meta_are_ignored(wire: Wire) -> None:
    message = {
        **retrieve(colour="green", _meta={"trace": "abc"}),
        "extension": {"a": 1},
    }
    assert "result" in wire.start(message).reply()


def test_null_for_an_optional_field_means_absent(wire: Wire, engine: Engine) -> None:
    nothing = dict.fromkeys(("mode", "filter", "rerank", "cursor", "minScore", "_meta"))
    assert "result" in wire.start(retrieve(**nothing)).reply()
    assert set(engine.seen[-1]) == {"query", "k"}


@pytest.mark.parametrize(
    "message",
    [
        {"jsonrpc": "2.0", "method": "retrieve", "params": {"query": "q", "k": 0}},
        {"jsonrpc": "2.0", "method": "no/such/method"},
        {"jsonrpc": "2.0", "method": "retrieve", "params": [1]},
        {"jsonrpc": "2.0", "method": "notifications/unheard-of", "params": {}},
        {"jsonrpc": "2.0", "method": "notifications/cancel"},
        {"jsonrpc": "2.0", "method": "notifications/cancel", "params": {"id": {}}},
        cancel("unknown"),
    ],
)
def test_a_notification_is_never_answered(wire: Wire, message: Any) -> None:
    assert wire.send_raw(json.dumps(message).encode()) == []


def test_a_cancel_with_an_id_is_an_invalid_request(wire: Wire) -> None:
    reply = wire.start({**cancel(1), "id": 9}).reply()
    assert (reply["id"], error_code(reply)) == (9, -32600)


@pytest.mark.parametrize(
    "text",
    [
        b'{"foo": 1}',
        b'"text"',
        b"7",
        b"null",
        b'{"jsonrpc":"2.0"}',
        b'{"jsonrpc":"2.0","method":1}',
        b'{"jsonrpc":"1.0","method":"ping"}',
        b'{"jsonrpc":"2.0","method":""}',
    ],
)
def test_json_that_is_no_request_is_invalid_without_id(wire: Wire, text: bytes) -> None:
    (reply,) = wire.send_raw(text)
    assert (reply["id"], error_code(reply)) == (None, -32600)


def test_a_batch_answers_each_request_once_in_any_order(wire: Wire) -> None:
    batch = [retrieve(id_=1), request("ping", id_="p"), cancel(99), retrieve(id_=1.5)]
    replies = wire.start(batch, stream=False).reply()
    assert sorted(str(reply["id"]) for reply in replies) == ["1", "1.5", "p"]


def test_an_empty_batch_is_one_invalid_request(wire: Wire) -> None:
    (reply,) = wire.send_raw(b"[]")
    assert (reply["id"], error_code(reply)) == (None, -32600)


def test_a_batch_of_notifications_alone_is_not_answered(wire: Wire) -> None:
    batch = [cancel(1), {"jsonrpc": "2.0", "method": "notifications/x"}]
    assert wire.send_raw(json.dumps(batch).encode()) == []


def test_a_bad_member_of_a_batch_is_answered_and_the_others_run(wire: Wire) -> None:
    replies = wire.start([7, {"foo": 1}, retrieve(id_=4), []], stream=False).reply()
    bad = [reply for reply in replies if reply["id"] is None]
    assert [error_code(reply) for reply in bad] == [-32600, -32600, -32600]
    assert "result" in next(reply for reply in replies if reply["id"] == 4)


def test_a_batch_beyond_the_limit_is_too_large(wire: Wire) -> None:
    batch = [request("ping", id_=n) for n in range(rcp.Limits().batch + 1)]
    (reply,) = wire.send_raw(json.dumps(batch).encode())
    assert (reply["id"], error_code(reply)) == (None, -32013)


@pytest.mark.parametrize(
    "text",
    [
        b"garbage",
        b'{"jsonrpc":"2.0","id":1,"method":"ping"',
        b'{"jsonrpc":"2.0","id":1,"method":"p\xff"}',
        b'{"jsonrpc":"2.0","id":1,"method":"retrieve","params":{"minScore":NaN}}',
        b'{"jsonrpc":"2.0","id":1,"method":"retrieve","params":{"minScore":-Infinity}}',
        b'{"jsonrpc":"2.0","id":1,"method":"retrieve","params":{"minScore":1e400}}',
        b'{"jsonrpc":"2.0","id":1,"method":"retrieve","params":{"k":' + b"9" * 40 + b"}}",
        b'{"jsonrpc":"2.0","id":1,"method":"retrieve","params":{"k":' + b"9" * 9000 + b"}}",
        b"[" * 20_000,
        b'{"a":' * 20_000,
        b"[" * 65 + b"]" * 65,
    ],
    ids=lambda text: text[:70].decode("latin-1"),
)
def test_what_is_not_json_to_us_is_a_parse_error_and_the_server_lives(
    wire: Wire, text: bytes
) -> None:
    (reply,) = wire.send_raw(text)
    assert (reply["id"], error_code(reply)) == (None, -32700)
    assert "result" in wire.start(retrieve()).reply()


def test_brackets_inside_strings_are_not_depth(wire: Wire) -> None:
    assert "result" in wire.start(retrieve("[{" * 5_000)).reply()


def test_a_byte_order_mark_and_white_space_are_tolerated(wire: Wire) -> None:
    (reply,) = wire.send_raw(b'\xef\xbb\xbf {"jsonrpc":"2.0","id":[],"method":"ping"} \r')
    assert error_code(reply) == -32600  # it was read


def test_a_score_that_is_not_finite_never_goes_out(wire: Wire, engine: Engine) -> None:
    hit = {"id": "a", "score": math.nan, "confidence": math.inf, "vector": [1.0, -math.inf]}
    engine.server.on("retrieve", lambda params: {"hits": [hit]})
    reply = wire.start(retrieve()).reply()
    assert reply["result"]["hits"] == [{"id": "a", "score": 0.0, "vector": [1.0, 0.0]}]


def test_enum_strings_are_case_sensitive(wire: Wire) -> None:
    reply = wire.start(retrieve(mode="Hybrid")).reply()
    assert (error_code(reply), reply["error"]["data"]["field"]) == (-32602, "mode")


def test_an_id_in_flight_may_not_be_used_again_by_the_same_peer(wire: Wire, engine: Engine) -> None:
    if not wire.refuses_doubles:
        pytest.skip("over HTTP an id belongs to one request")
    first = wire.start(retrieve("hold", id_=7))
    assert engine.started.acquire(timeout=5)
    text = json.dumps(request("ping", id_=7)).encode()
    (reply,) = wire.send_raw(text)
    assert (reply["id"], error_code(reply)) == (None, -32600)
    engine.release.set()
    assert "result" in first.reply()
    assert "result" in wire.start(request("ping", id_=7)).reply()


def test_half_of_a_surrogate_pair_never_leaves_the_server(wire: Wire, engine: Engine) -> None:
    @engine.server.stream("retrieve")
    def broken(params: Any) -> Any:
        yield rcp.Progress(0.5, "half \ud800", partial=["\udc00"])
        return {"hits": [{"id": "\ud800", "score": 1}]}

    pending = wire.start(retrieve(token="t"))
    assert pending.reply()["result"]["hits"] == [{"id": "\ufffd", "score": 1}]
    assert all("\ud800" not in frame["params"]["stage"] for frame in pending.frames)
