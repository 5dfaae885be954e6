"""RCP.md, section 5: HTTP, as bytes on the wire."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from retrieval import rcp
from retrieval.rcp.transports.asgi import RcpApp
from retrieval.rcp.transports.http import HttpRequest
from tests.retrieval.rcp.engine import Engine, cancel, initialize, request, retrieve
from tests.retrieval.rcp.wires import host

SSE = "text/event-stream"


@pytest.fixture
def engine() -> Iterator[Engine]:
    made = Engine(limits=rcp.Limits(message_bytes=10_000, keepalive_seconds=0.05))
    yield made
    made.release.set()
    made.server.close()


@pytest.fixture(autouse=True)
def site(engine: Engine) -> None:
    host().app = RcpApp(engine.server.endpoint(stateless=True))


class Response:
    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status = response.status
        self.headers = response.headers
        self.body = response.read()

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@contextmanager
def posting(
    body: Any, *, path: str = "/rcp", method: str = "POST", **headers: str
) -> Iterator[http.client.HTTPConnection]:
    connection = http.client.HTTPConnection("127.0.0.1", host().port, timeout=10)
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, path, raw, {"Content-Type": "application/json", **named})
    try:
        yield connection
    finally:
        connection.close()


def post(body: Any, **more: str) -> Response:
    with posting(body, **more) as connection:
        return Response(connection.getresponse())


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


# Who asks.


def identify(headers: Any) -> rcp.Caller:
    match headers.get("authorization"):
        case "Bearer alice" | "Bearer bob" as credentials:
            return rcp.Caller(scope=credentials, identity=credentials[7:])
        case "Bearer mallory":
            raise rcp.Unauthorized("not any more", forbidden=True)
    raise rcp.Unauthorized("send an API key")


@pytest.mark.parametrize(("key", "status"), [("none", 401), ("mallory", 403)])
def test_a_caller_who_is_refused_gets_401_or_403_and_the_rcp_code(
    engine: Engine, key: str, status: int
) -> None:
    host().app = RcpApp(engine.server.endpoint(), identify=identify)
    for accept in (SSE, "application/json"):
        response = post(retrieve(), Authorization=f"Bearer {key}", Accept=accept)
        assert (response.status, response.json["error"]["code"]) == (status, -32012)
    assert ("www-authenticate" in response.headers) == (status == 401)


def test_handlers_and_guards_see_the_caller(engine: Engine) -> None:
    host().app = RcpApp(engine.server.endpoint(), identify=identify)
    seen: list[Any] = []
    engine.server.guard(lambda caller, method: seen.append((caller.identity, method)))
    engine.server.on(
        "retrieve", lambda params: {"hits": [], "who": rcp.current_call().caller.identity}
    )
    assert post(retrieve(), Authorization="Bearer bob").json["result"]["who"] == "bob"
    assert seen == [("bob", "retrieve")]


@pytest.mark.parametrize("accept", [SSE, "application/json"])
@pytest.mark.parametrize(
    ("error", "status", "retry_after"),
    [
        (rcp.RateLimited("slow down", retry_after_ms=2_500), 429, "3"),
        (rcp.Unauthorized("who are you?"), 401, None),
        (rcp.Unauthorized("no", forbidden=True), 403, None),
        (rcp.BackendUnavailable("down", retry_after_ms=10), 503, "1"),
        (rcp.PayloadTooLarge("too much"), 413, None),
    ],
)
def test_a_guard_refuses_with_the_status_that_http_has_for_it(
    engine: Engine, error: rcp.RcpError, status: int, retry_after: str | None, accept: str
) -> None:
    def refuse(caller: rcp.Caller, method: str) -> None:
        raise error

    engine.server.guard(refuse)
    response = post(retrieve(), Accept=accept)
    assert (response.status, response.json["error"]["code"]) == (status, error.code)
    assert response.headers["retry-after"] == retry_after


def test_a_backend_that_is_down_is_503() -> None:
    assert post(retrieve("fail:backend")).status == 503


def test_no_caller_can_cancel_the_request_of_another(engine: Engine) -> None:
    host().app = RcpApp(engine.server.endpoint(), identify=identify)
    with posting(retrieve("hold", id_=1), Authorization="Bearer alice") as connection:
        assert engine.started.acquire(timeout=5)
        post(cancel(1), Authorization="Bearer bob")
        post(cancel(1), Authorization="Bearer alice", RCP_Session="another")
        assert engine.closed.acquire(blocking=False) is False
        post(cancel(1), Authorization="Bearer alice")
        assert Response(connection.getresponse()).json["error"]["code"] == -32006


def test_callers_without_credentials_are_told_apart_by_the_session_of_initialize(
    engine: Engine,
) -> None:
    mine, other = (post(initialize()).json["result"]["_meta"]["session"] for _ in range(2))
    assert mine != other
    with posting(retrieve("hold", id_=1), RCP_Session=mine) as connection:
        assert engine.started.acquire(timeout=5)
        post(cancel(1))
        post(cancel(1), RCP_Session=other)
        assert engine.closed.acquire(blocking=False) is False
        post(cancel(1), RCP_Session=mine)
        assert Response(connection.getresponse()).json["error"]["code"] == -32006


def test_callers_may_use_the_same_id_at_once(engine: Engine) -> None:
    with posting(retrieve("hold", id_=1)) as first, posting(retrieve("hold", id_=1)) as second:
        for _ in range(2):
            assert engine.started.acquire(timeout=5)
        engine.release.set()
        for connection in (first, second):
            assert "result" in Response(connection.getresponse()).json


def test_an_ambiguous_cancel_cancels_nothing(engine: Engine) -> None:
    host().app = RcpApp(engine.server.endpoint(stateless=False))
    post(initialize())
    with posting(retrieve("hold", id_=1)) as first, posting(retrieve("hold", id_=1)) as second:
        for _ in range(2):
            assert engine.started.acquire(timeout=5)
        post(cancel(1))
        engine.release.set()
        for connection in (first, second):
            assert "result" in Response(connection.getresponse()).json


def test_after_a_shutdown_the_stand_alone_server_takes_a_new_handshake(engine: Engine) -> None:
    host().app = RcpApp(engine.server.endpoint(stateless=False))
    assert "result" in post(initialize()).json
    assert post(initialize()).json["error"]["code"] == -32600
    assert post(request("shutdown", {})).json["result"] == {}
    assert post(retrieve()).json["error"]["code"] == -32001
    assert "result" in post(initialize()).json


# The pieces a site builds its endpoint from.


async def test_the_endpoint_answers_without_any_web_framework(engine: Engine) -> None:
    endpoint = engine.server.endpoint()
    body = json.dumps(retrieve("steps:2", token="t")).encode()
    buffered = await endpoint.respond(HttpRequest(body=body))
    assert (buffered.status, buffered.frames) == (200, None)
    assert json.loads(buffered.body)["result"]["hits"]
    streamed = await endpoint.respond(HttpRequest(body=body, accept=SSE))
    assert streamed.frames is not None
    assert len([frame async for frame in streamed.frames]) == 3


async def test_closing_the_frames_of_the_endpoint_cancels_even_before_the_first(
    engine: Engine,
) -> None:
    body = json.dumps(retrieve("hold", token="t")).encode()
    reply = await engine.server.endpoint().respond(HttpRequest(body=body, accept=SSE))
    assert reply.frames is not None
    await reply.frames.aclose()
    assert engine.closed.acquire(timeout=5)


def test_a_thread_may_use_the_endpoint_too(engine: Engine) -> None:
    endpoint = engine.server.endpoint()
    body = json.dumps(retrieve()).encode()
    assert json.loads(endpoint.respond_blocking(HttpRequest(body=body)).body)["result"]["hits"]
    assert endpoint.respond_blocking(HttpRequest(body=b"[]")).status == 400


def test_serve_http_serves_until_closed(engine: Engine) -> None:
    ports: list[int] = []
    ready = threading.Event()

    def on_ready(port: int) -> None:
        ports.append(port)
        ready.set()

    thread = threading.Thread(
        target=engine.server.serve_http, kwargs={"port": 0, "on_ready": on_ready}, daemon=True
    )
    thread.start()
    assert ready.wait(10)
    connection = http.client.HTTPConnection("127.0.0.1", ports[0], timeout=10)
    for message in (retrieve(), initialize(), retrieve()):
        connection.request("POST", "/rcp", json.dumps(message))
        reply = json.loads(connection.getresponse().read())
    assert reply["result"]["hits"]
    connection.request("POST", "/rcp", json.dumps(retrieve("hold", token="t")), {"Accept": SSE})
    assert engine.started.acquire(timeout=5)
    engine.server.close()
    thread.join(10)
    assert not thread.is_alive()
    assert engine.closed.acquire(timeout=5)
    assert b"-32006" in connection.getresponse().read()
    connection.close()
