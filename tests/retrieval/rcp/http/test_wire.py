"""RCP.md, section 5: HTTP, as bytes on the wire."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from typing import Any

import pytest

from retrieval import rcp
from retrieval.rcp.transports.asgi import RcpApp
from tests.retrieval.rcp.engine import Engine, cancel, request, retrieve
from tests.retrieval.rcp.posting import SSE, Response, post, posting
from tests.retrieval.rcp.wires import host


@pytest.mark.parametrize(
    ("message", "code"),
    [
        (retrieve(), None),
        (request("retrieve", {"k": 0}), -32602),
        (request("no/such", {}), -32004),
        (request("embed", {}), -32003),
        (retrieve("fail:bug"), -32603),
        (retrieve("fail:rcp"), -32015),
        ({**cancel(1), "id": 9}, -32600),
    ],
)
def test_every_json_rpc_response_is_200_errors_included(message: Any, code: int | None) -> None:
    response = post(message)
    assert response.status == 200
    assert response.headers["content-type"] == "application/json"
    assert response.json.get("error", {}).get("code") == code


def test_a_notification_is_204_without_a_body() -> None:
    for message in (cancel(1), [cancel(1), cancel(2)]):
        response = post(message, Accept=SSE)
        assert (response.status, response.body) == (204, b"")


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"garbage", -32700),
        (b"", -32700),
        (b"[]", -32600),
        (b'{"foo":1}', -32600),
        (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600),
    ],
)
@pytest.mark.parametrize("accept", [SSE, "*/*"])
def test_what_is_not_json_or_not_json_rpc_is_400(body: bytes, code: int, accept: str) -> None:
    response = post(body, Accept=accept)
    assert (response.status, response.json["error"]["code"]) == (400, code)
    assert response.headers["content-type"] == "application/json"


def test_a_batch_is_200_though_members_fail() -> None:
    response = post([retrieve(id_=1), 7])
    assert response.status == 200
    assert len(response.json) == 2


@pytest.mark.parametrize("path", ["/", "/other", "/rcpx", "/api/rcp", "/rcp2/retrieve"])
def test_elsewhere_is_404(path: str) -> None:
    assert post(retrieve(), path=path).status == 404


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "OPTIONS"])
def test_only_post_is_taken(method: str) -> None:
    response = post(b"", method=method)
    assert (response.status, response.headers["allow"]) == (405, "POST")


@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_beyond_the_limit_is_413(chunked: bool) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", host().port, timeout=10)
    body = b" " * 20_000
    source = iter([body[:9_000], body[9_000:]]) if chunked else body
    connection.request("POST", "/rcp", source, encode_chunked=chunked)
    response = Response(connection.getresponse())
    connection.close()
    assert (response.status, response.json["error"]["code"]) == (413, -32013)


def test_a_declared_length_beyond_the_limit_is_refused_before_it_is_sent() -> None:
    with socket.create_connection(("127.0.0.1", host().port), timeout=10) as connection:
        connection.sendall(b"POST /rcp HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n")
        assert connection.recv(100).startswith(b"HTTP/1.1 413")


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:1"])
def test_a_page_of_another_origin_may_not_ask(origin: str) -> None:
    response = post(retrieve(), Origin=origin)
    assert (response.status, response.json["error"]["code"]) == (403, -32012)
    assert post(retrieve(), Origin=f"http://127.0.0.1:{host().port}").status == 200


def test_the_path_may_name_the_method() -> None:
    assert post(retrieve(), path="/rcp/retrieve").json["result"]["hits"]
    assert post(request("embed/sparse", {}), path="/rcp/embed/sparse").json["error"]["code"] == (
        -32003
    )


@pytest.mark.parametrize("path", ["/rcp/embed", "/rcp/Retrieve", "/rcp/retrieve/", "/rcp/info"])
def test_path_and_body_must_agree(path: str) -> None:
    response = post(retrieve(id_=5), path=path)
    assert response.json["error"]["code"] == -32600
    assert response.json["id"] == 5
    assert post(cancel(1), path=path).status == 204


def test_one_member_of_a_batch_that_disagrees_refuses_the_batch() -> None:
    response = post([retrieve(), request("ping", id_=2)], path="/rcp/retrieve")
    assert (response.json["id"], response.json["error"]["code"]) == (None, -32600)


@pytest.mark.parametrize(
    ("accept", "streams"),
    [
        ("text/event-stream", True),
        ("TEXT/Event-Stream; q=0.9", True),
        ("text/event-stream;charset=utf-8", True),
        ("application/json, text/event-stream", True),
        ("application/json;q=0.5, text/event-stream;q=0.8", True),
        ("application/json, text/event-stream;q=0", False),
        ("application/json, text/event-stream; Q=0.0", False),
        ("application/json, text/event-stream;q=0.5", False),
        ("*/*", False),
        ("text/*", False),
        ("application/json", False),
        ("text/event-streams", False),
        ("text/event-stream;q=nonsense", False),
        ("", False),
    ],
)
def test_the_accept_header_is_parsed_properly(accept: str, streams: bool) -> None:
    response = post(retrieve(), Accept=accept)
    assert response.status == 200
    assert response.headers["content-type"].startswith(SSE if streams else "application/json")


def test_a_stream_is_data_lines_alone_each_with_a_blank_line_and_then_ends() -> None:
    response = post(retrieve("steps:2", token="t"), Accept=SSE)
    assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert response.headers["cache-control"] == "no-cache, no-transform"
    assert response.headers["x-accel-buffering"] == "no"
    assert response.headers["content-encoding"] == "identity"
    *events, rest = response.body.split(b"\n\n")
    assert rest == b""
    assert all(event.startswith(b"data: {") and b"\n" not in event for event in events)
    messages = [json.loads(event[6:]) for event in events]
    assert [message.get("method") for message in messages] == [
        "notifications/progress",
        "notifications/progress",
        None,
    ]
    assert events[0][6:] == json.dumps(messages[0], separators=(",", ":")).encode()
    assert "result" in messages[-1]


def test_an_error_ends_a_stream_as_its_last_frame() -> None:
    response = post(request("retrieve", {"k": 0}), Accept=SSE)
    assert response.status == 200
    assert json.loads(response.body.removeprefix(b"data: "))["error"]["code"] == -32602


def test_a_plain_post_drains_the_same_handler_and_gets_the_result_alone() -> None:
    response = post(retrieve("steps:2", token="t"))
    assert set(response.json) == {"jsonrpc", "id", "result"}


def test_a_server_without_streaming_answers_a_stream_request_with_json() -> None:
    engine = Engine(streaming=False)
    host().app = RcpApp(engine.server.endpoint(stateless=True))
    response = post(retrieve("steps:1", token="t"), Accept=SSE)
    assert response.headers["content-type"] == "application/json"
    engine.server.close()


def test_a_batch_may_stream_and_ends_with_one_frame_of_all_responses() -> None:
    response = post([retrieve("steps:1", id_=1, token="a"), retrieve(id_=2)], Accept=SSE)
    *frames, last = (json.loads(line[6:]) for line in response.body.split(b"\n\n")[:-1])
    assert [frame["params"]["progressToken"] for frame in frames] == ["a"]
    assert sorted(reply["id"] for reply in last) == [1, 2]


def test_silence_is_filled_with_comments(engine: Engine) -> None:
    with posting(retrieve("hold-async", token="t"), Accept=SSE) as connection:
        response = connection.getresponse()
        lines = [response.readline() for _ in range(6)]
        engine.release.set()
        assert lines[0].startswith(b"data: ")
        assert lines[2:6] == [b": keep-alive\n", b"\n"] * 2
        assert b'"result"' in response.read()


def test_the_first_frame_reaches_the_client_while_the_handler_waits(engine: Engine) -> None:
    with posting(retrieve("hold", token="t"), Accept=SSE) as connection:
        assert b"notifications/progress" in connection.getresponse().readline()
        assert engine.closed.acquire(blocking=False) is False


@pytest.mark.parametrize("query", ["hold", "hold-async"])
@pytest.mark.parametrize("accept", [SSE, "application/json"])
def test_a_closed_connection_cancels(engine: Engine, query: str, accept: str) -> None:
    with posting(retrieve(query, token="t"), Accept=accept) as connection:
        assert engine.started.acquire(timeout=5)
        assert connection.sock is not None
        connection.sock.shutdown(socket.SHUT_RDWR)
    assert engine.closed.acquire(timeout=5)


def test_a_reader_that_stops_reading_and_leaves_cancels_a_handler_that_floods(
    engine: Engine,
) -> None:
    flooding = threading.Event()

    def flood(params: dict[str, Any]) -> Any:
        try:
            for n in range(100_000):
                yield rcp.Progress(0.5, "flood", "x" * 1_000)
                if n > 2_000:
                    flooding.set()
            return {"hits": []}
        finally:
            engine.closed.release()

    engine.server.stream("retrieve", flood)
    with posting(retrieve(token="t"), Accept=SSE) as connection:
        assert flooding.wait(5)
        assert connection.sock is not None
        connection.sock.shutdown(socket.SHUT_RDWR)
    assert engine.closed.acquire(timeout=5)
