"""The protocol's "Streaming & Progress" page, rule by rule, with the page's own handler."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from retrieval import rcp
from tests.retrieval.rcp import schema
from tests.retrieval.rcp.wires import StdioWire, host, open_stdio

DENSE = [
    {"id": "d2", "score": 0.9}, {"id": "d5", "score": 0.8}, {"id": "d1", "score": 0.4},
]  # fmt: skip
SPARSE = [{"id": "d2", "score": 7.0}, {"id": "d5", "score": 5.0}, {"id": "d1", "score": 1.0}]


def recall_dense(query: str) -> list[dict[str, Any]]:
    return DENSE


def recall_sparse(query: str) -> list[dict[str, Any]]:
    return SPARSE


def rerank(query: str, hits: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(hits, key=lambda hit: -hit["score"])


# As printed on the page.


def retrieve(params):  # type: ignore[no-untyped-def]
    query, k = params["query"], params.get("k", 5)
    dense = recall_dense(query)
    yield rcp.Progress(0.33, "recall:dense", partial=[h["id"] for h in dense[:k]])

    fused = rcp.rrf_fuse({"dense": dense, "sparse": recall_sparse(query)}, k=k * 2)
    yield rcp.Progress(0.66, "fuse:rrf", partial=[h["id"] for h in fused[:k]])

    hits = rerank(query, fused)[:k]
    yield rcp.Progress(1.0, "rerank", partial=[h["id"] for h in hits])
    return {"hits": hits, "mode": "hybrid"}


def page_server() -> rcp.Server:
    s = rcp.Server()
    s.set_info("streaming-demo", "1.0")
    s.advertise(rcp.Capability.Retrieve, {"maxK": 100, "modes": ["hybrid"]})
    s.advertise(rcp.Capability.Streaming)  # required for the SSE path
    s.stream("retrieve", retrieve)
    return s


REQUEST = {
    "jsonrpc": "2.0",
    "id": 2,
    "method": "retrieve",
    "params": {"query": "…", "k": 5, "_meta": {"progressToken": "t2"}},
}
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": 1, "client": {"name": "t"}, "capabilities": {}},
}


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """The page's program, served by `serve_http` as the page does."""
    server = page_server()
    ports: list[int] = []
    ready = threading.Event()
    thread = threading.Thread(
        target=lambda: server.serve_http(0, on_ready=lambda p: (ports.append(p), ready.set()))
    )
    thread.start()
    assert ready.wait(10)
    post(ports[0], INITIALIZE)
    yield ports[0]
    server.close()
    thread.join(10)


def post(port: int, message: Any, accept: str = "application/json") -> tuple[str, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("POST", "/rcp", json.dumps(message), {"Accept": accept})
    response = connection.getresponse()
    kind, body = response.headers["content-type"], response.read()
    connection.close()
    return kind, body


def stream(port: int, message: Any = REQUEST) -> list[dict[str, Any]]:
    kind, body = post(port, message, "text/event-stream")
    assert kind.startswith("text/event-stream")
    messages = [json.loads(event[len("data: ") :]) for event in body.decode().split("\n\n")[:-1]]
    for sent in messages:
        schema.check(sent, method="retrieve" if "result" in sent else None)
    return messages


def without_token() -> dict[str, Any]:
    return {**REQUEST, "params": {"query": "…", "k": 5}}


def test_the_handler_of_the_page_runs_and_yields_its_three_frames(port: int) -> None:
    *frames, final = stream(port)
    assert [
        (frame["params"]["progress"], frame["params"]["stage"], frame["params"]["partial"])
        for frame in frames
    ] == [
        (0.33, "recall:dense", {"hits": ["d2", "d5", "d1"]}),
        (0.66, "fuse:rrf", {"hits": ["d2", "d5", "d1"]}),
        (1.0, "rerank", {"hits": ["d2", "d5", "d1"]}),
    ]
    assert [hit["id"] for hit in final["result"]["hits"]] == ["d2", "d5", "d1"]
    assert final["result"]["mode"] == "hybrid"


@pytest.mark.parametrize("token", ["t2", 7])
def test_opting_in_the_token_is_a_string_or_an_integer_that_the_client_chose(
    port: int, token: Any
) -> None:
    params = {**REQUEST["params"], "_meta": {"progressToken": token}}
    *frames, _ = stream(port, {**REQUEST, "params": params})
    assert [frame["params"]["progressToken"] for frame in frames] == [token] * 3


def test_a_frame_is_a_notification_without_an_id(port: int) -> None:
    *frames, _ = stream(port)
    assert all(frame["method"] == "notifications/progress" for frame in frames)
    assert all("id" not in frame for frame in frames)


def test_a_server_must_not_emit_progress_for_a_request_that_carried_no_token(port: int) -> None:
    (final,) = stream(port, without_token())
    assert len(final["result"]["hits"]) == 3


def test_progress_is_a_float_between_zero_and_one(port: int) -> None:
    values = [frame["params"]["progress"] for frame in stream(port)[:-1]]
    assert all(isinstance(value, float) and 0.0 <= value <= 1.0 for value in values)


def test_partial_is_an_object(port: int) -> None:
    assert all(isinstance(frame["params"]["partial"], dict) for frame in stream(port)[:-1])


def test_the_final_response_bears_the_request_id_and_follows_every_frame(port: int) -> None:
    *frames, final = stream(port)
    assert all("method" in frame for frame in frames)
    assert (final["id"], "result" in final) == (2, True)


def test_the_final_response_is_the_same_with_and_without_frames(port: int) -> None:
    buffered = json.loads(post(port, REQUEST)[1])
    assert buffered == stream(port)[-1] == stream(port, without_token())[-1]


def test_a_client_that_did_not_ask_for_sse_gets_one_buffered_json_response(port: int) -> None:
    kind, body = post(port, REQUEST)
    assert kind == "application/json"
    assert set(json.loads(body)) == {"jsonrpc", "id", "result"}


def test_each_sse_frame_is_one_data_line_of_compact_json_and_a_blank_line(port: int) -> None:
    _, body = post(port, REQUEST, "text/event-stream")
    for event in body.split(b"\n\n")[:-1]:
        assert event.startswith(b"data: ") and event.count(b"\n") == 0
        parsed = json.loads(event[6:])
        assert event[6:].decode() == json.dumps(parsed, separators=(",", ":"), ensure_ascii=False)


def test_the_stream_ends_after_the_final_response_frame(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        body = json.dumps(REQUEST).encode()
        connection.sendall(
            b"POST /rcp HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
            b"Accept: text/event-stream\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)
        )
        received = b""
        while chunk := connection.recv(4096):
            received += chunk
    last_event = received.rindex(b"data: ")
    assert b'"result"' in received[last_event:]


def test_over_stdio_progress_frames_interleave_on_stdout() -> None:
    server = page_server()
    with open_stdio(server) as wire:
        assert isinstance(wire, StdioWire)
        wire.start(INITIALIZE).reply()
        other = {**REQUEST, "id": 3}
        other["params"] = {**REQUEST["params"], "_meta": {"progressToken": "t3"}}
        first, second = wire.start(REQUEST), wire.start(other)
        assert len(first.reply()["result"]["hits"]) == len(second.reply()["result"]["hits"]) == 3
        assert len(first.frames) == len(second.frames) == 3
    server.close()


def test_a_client_ignores_frames_with_a_token_it_does_not_know_and_needs_none(port: int) -> None:
    # Unknown tokens: tests of the client; here: the client works with none at all.
    with rcp.connect_http(f"http://127.0.0.1:{port}/rcp") as client:
        assert [hit["id"] for hit in client.retrieve("…", 5)["hits"]] == ["d2", "d5", "d1"]
        frames: list[rcp.Progress] = []
        client.retrieve("…", 5, on_progress=frames.append)
        assert [frame.hits for frame in frames] == [["d2", "d5", "d1"]] * 3


def test_each_frame_is_flushed_the_instant_it_is_produced() -> None:
    step = threading.Semaphore(0)

    def stepwise(params: dict[str, Any]) -> Any:
        for number in range(3):
            yield rcp.Progress(number / 3, f"stage {number}")
            assert step.acquire(timeout=10)
        return {"hits": []}

    server = page_server()
    server.stream("retrieve", stepwise)
    from retrieval.rcp.transports.asgi import RcpApp

    host().app = RcpApp(server.endpoint())
    connection = http.client.HTTPConnection("127.0.0.1", host().port, timeout=10)
    connection.request("POST", "/rcp", json.dumps(REQUEST), {"Accept": "text/event-stream"})
    response = connection.getresponse()
    for number in range(3):
        assert f"stage {number}".encode() in response.readline()
        response.readline()
        step.release()
    assert b'"result"' in response.read()
    connection.close()
    server.close()


def test_progress_pairs_with_cancellation(port: int) -> None:
    server = page_server()
    closed = threading.Event()

    def endless(params: dict[str, Any]) -> Any:
        try:
            while True:
                yield rcp.Progress(0.5, "recall", partial=["d2"])
        finally:
            closed.set()

    server.stream("retrieve", endless)
    with open_stdio(server) as wire:
        wire.start(INITIALIZE).reply()
        pending = wire.start(REQUEST)
        assert pending.next_frame()["params"]["partial"] == {"hits": ["d2"]}
        wire.start({"jsonrpc": "2.0", "method": "notifications/cancel", "params": {"id": 2}})
        assert pending.reply()["error"]["code"] == -32006
        assert closed.wait(5)
    server.close()
