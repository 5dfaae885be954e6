"""RCP.md, section 6: progress."""

from __future__ import annotations

from typing import Any

import pytest

from retrieval import rcp
from tests.retrieval.rcp.engine import Engine, request, retrieve
from tests.retrieval.rcp.wires import OPENERS, Wire

HANDLERS = ["steps:3", "steps-async:3"]


@pytest.mark.parametrize("query", HANDLERS)
def test_frames_come_in_order_with_token_progress_and_stage(wire: Wire, query: str) -> None:
    pending = wire.start(retrieve(query, token="t2"))
    assert [hit["id"] for hit in pending.reply()["result"]["hits"]] == ["d1", "d2"]
    assert [frame["params"]["stage"] for frame in pending.frames] == ["step:1", "step:2", "step:3"]
    assert [frame["params"]["progress"] for frame in pending.frames] == [1 / 3, 2 / 3, 1.0]
    assert {frame["params"]["progressToken"] for frame in pending.frames} == {"t2"}
    assert all(set(frame) == {"jsonrpc", "method", "params"} for frame in pending.frames)


@pytest.mark.parametrize("token", [0, "", 7, "0", "токен", 2**53])
def test_the_token_is_echoed_with_its_type(wire: Wire, token: Any) -> None:
    pending = wire.start(retrieve("steps:1", token=token))
    assert "result" in pending.reply()
    (frame,) = pending.frames
    echoed = frame["params"]["progressToken"]
    assert (type(echoed), echoed) == (type(token), token)


@pytest.mark.parametrize("token", [True, False, 1.5, 1.0, {}, [], ["a"]])
@pytest.mark.parametrize("method", ["retrieve", "ping"])
def test_a_token_of_another_type_is_an_invalid_param(wire: Wire, token: Any, method: str) -> None:
    params = {"query": "q", "_meta": {"progressToken": token}}
    reply = wire.start(request(method, params)).reply()
    assert reply["error"]["code"] == -32602
    assert reply["error"]["data"]["field"] == "_meta.progressToken"


@pytest.mark.parametrize("query", HANDLERS)
def test_without_a_token_no_frame_is_sent(wire: Wire, query: str) -> None:
    pending = wire.start(retrieve(query))
    assert "result" in pending.reply()
    assert pending.frames == []


def test_a_null_token_is_no_token(wire: Wire) -> None:
    pending = wire.start(retrieve("steps:2", _meta={"progressToken": None}))
    assert "result" in pending.reply()
    assert pending.frames == []


@pytest.mark.parametrize("transport", sorted(OPENERS))
def test_a_server_that_does_not_advertise_streaming_sends_no_frame(transport: str) -> None:
    engine = Engine(streaming=False)
    with OPENERS[transport](engine.server) as wire:
        wire.start(request("initialize", {"protocolVersion": 1}, id_=0)).reply()
        pending = wire.start(retrieve("steps:2", token="t"))
        assert "result" in pending.reply()
        assert pending.frames == []
    engine.server.close()


def test_progress_never_falls_and_stays_within_its_bounds(wire: Wire, engine: Engine) -> None:
    def jumpy(params: dict[str, Any]) -> Any:
        for value in (-1.0, 0.5, 0.2, float("nan"), 7.0, 0.9):
            yield rcp.Progress(value, "stage")
        return {"hits": []}

    engine.server.stream("retrieve", jumpy)
    pending = wire.start(retrieve(token="t"))
    pending.reply()
    values = [frame["params"]["progress"] for frame in pending.frames]
    assert values == [0.0, 0.5, 0.5, 0.5, 1.0, 1.0]


@pytest.mark.parametrize(
    ("partial", "sent"),
    [
        (["d2", "d5"], {"hits": ["d2", "d5"]}),
        ([{"id": "d2", "score": 1.0}], {"hits": [{"id": "d2", "score": 1.0}]}),
        ([], {"hits": []}),
        ({"hits": ["d2"], "total": 9}, {"hits": ["d2"], "total": 9}),
    ],
)
def test_partial_is_an_object_and_a_bare_list_becomes_its_hits(
    wire: Wire, engine: Engine, partial: Any, sent: Any
) -> None:
    def handler(params: dict[str, Any]) -> Any:
        yield rcp.Progress(0.5, "recall", "30/50", partial)
        return {"hits": []}

    engine.server.stream("retrieve", handler)
    pending = wire.start(retrieve(token="t"))
    pending.reply()
    assert pending.frames[0]["params"]["partial"] == sent
    assert pending.frames[0]["params"]["message"] == "30/50"


def test_a_frame_is_flushed_before_the_handler_goes_on(wire: Wire, engine: Engine) -> None:
    pending = wire.start(retrieve("hold", token="t"))
    assert pending.next_frame()["params"]["progress"] == 0.1
    engine.release.set()
    assert "result" in pending.reply()


def test_a_handler_that_yields_something_else_is_an_internal_error(
    wire: Wire, engine: Engine
) -> None:
    def handler(params: dict[str, Any]) -> Any:
        yield "50%"

    engine.server.stream("retrieve", handler)
    assert wire.start(retrieve(token="t")).reply()["error"]["code"] == -32603


def plain(params: dict[str, Any]) -> Any:
    return {"hits": []}


async def coroutine(params: dict[str, Any]) -> Any:
    return {"hits": []}


def generator(params: dict[str, Any]) -> Any:
    yield rcp.Progress(1.0, "all")
    return {"hits": []}


async def async_generator(params: dict[str, Any]) -> Any:
    yield rcp.Progress(1.0, "all")
    yield {"hits": []}


class Callable:
    async def __call__(self, params: dict[str, Any]) -> Any:
        return {"hits": []}


@pytest.mark.parametrize(
    "handler",
    [plain, coroutine, generator, async_generator, Callable(), lambda params: coroutine(params)],
    ids=["plain", "coroutine", "generator", "async generator", "object", "returns a coroutine"],
)
@pytest.mark.parametrize("stream", [True, False])
def test_a_handler_of_any_kind_is_written_once_for_stream_and_buffer(
    wire: Wire, engine: Engine, handler: Any, stream: bool
) -> None:
    engine.server.on("retrieve", handler)
    assert wire.start(retrieve(token="t"), stream=stream).reply()["result"] == {"hits": []}


def test_a_buffered_request_drains_the_generator_and_gets_the_result_alone(wire: Wire) -> None:
    pending = wire.start(retrieve("steps:3", token="t"), stream=False)
    assert len(pending.reply()["result"]["hits"]) == 2
    if hasattr(wire, "leave") and wire.__class__.__name__ == "HttpWire":
        assert pending.frames == []


def test_two_requests_keep_their_frames_apart(wire: Wire, engine: Engine) -> None:
    first = wire.start(retrieve("hold", id_=1, token="one"))
    second = wire.start(retrieve("steps:3", id_=2, token="two"))
    assert "result" in second.reply()
    assert len(second.frames) == 3
    engine.release.set()
    assert "result" in first.reply()
    assert {frame["params"]["progressToken"] for frame in first.frames} == {"one"}
