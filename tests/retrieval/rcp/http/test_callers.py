"""RCP.md, section 5 and 6: who asks over HTTP, whose ids these are, what a site plugs in."""

from __future__ import annotations

import asyncio
import http.client
import json
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from retrieval import rcp
from retrieval.rcp.transports.asgi import RcpApp
from retrieval.rcp.transports.http import HttpRequest
from tests.retrieval.rcp.engine import Engine, cancel, initialize, request, retrieve
from tests.retrieval.rcp.posting import SSE, Response, post, posting
from tests.retrieval.rcp.wires import host


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


def test_after_a_shutdown_the_stand_alone_server_refuses_every_request(engine: Engine) -> None:
    host().app = RcpApp(engine.server.endpoint(stateless=False))
    assert "result" in post(initialize()).json
    assert post(initialize()).json["error"]["code"] == -32600
    assert post(request("shutdown", {})).json["result"] == {}
    for message in (retrieve(), request("ping"), request("info"), initialize(), retrieve()):
        assert post(message).json["error"]["code"] == -32600
    assert post(request("shutdown", {})).json["error"]["code"] == -32600
    assert engine.seen == []


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


@contextmanager
def served(server: rcp.Server) -> Iterator[http.client.HTTPConnection]:
    """A server run by `serve_http`, and a connection to it."""
    ports: list[int] = []
    ready = threading.Event()
    thread = threading.Thread(
        target=lambda: server.serve_http(
            0, stateless=True, on_ready=lambda port: (ports.append(port), ready.set())
        ),
        daemon=True,
    )
    thread.start()
    assert ready.wait(10)
    connection = http.client.HTTPConnection("127.0.0.1", ports[0], timeout=10)
    yield connection
    connection.close()
    server.close()
    thread.join(10)
    assert not thread.is_alive()


def test_over_serve_http_a_handler_that_was_quick_may_turn_slow(engine: Engine) -> None:
    def sometimes(params: dict[str, Any]) -> Any:
        if params["query"] == "slow":
            engine.started.release()
            engine.release.wait(10)
        return {"hits": []}

    engine.server.on("retrieve", sometimes)
    with served(engine.server) as connection:

        def ask(message: Any, on: http.client.HTTPConnection = connection) -> Any:
            on.request("POST", "/rcp", json.dumps(message))
            return json.loads(on.getresponse().read())

        for n in range(20):
            assert "result" in ask(retrieve(id_=n))
        slow = [http.client.HTTPConnection("127.0.0.1", connection.port) for _ in range(5)]
        for n, other in enumerate(slow):
            other.request("POST", "/rcp", json.dumps(retrieve("slow", id_=n)))
            assert engine.started.acquire(timeout=5)
            assert "result" in ask(request("ping"))
            assert "result" in ask(retrieve("quick"))
        ask_cancel = json.dumps(cancel(0))
        connection.request("POST", "/rcp", ask_cancel)  # without a session it cancels nothing
        assert connection.getresponse().status == 204
        engine.release.set()
        for other in slow:
            assert "result" in json.loads(other.getresponse().read())
            other.close()


def test_over_serve_http_more_slow_calls_than_threads_block_nobody() -> None:
    engine = Engine(limits=rcp.Limits(concurrency=2))
    engine.server.on("retrieve", lambda params: engine.release.wait(10) and {"hits": []})
    with served(engine.server) as connection:
        slow = http.client.HTTPConnection("127.0.0.1", connection.port)
        slow.request("POST", "/rcp", json.dumps([retrieve(id_=n) for n in range(10)]))
        for _ in range(50):  # also while one after the other turns out to be slow
            connection.request("POST", "/rcp", json.dumps(request("ping")))
            assert b"result" in connection.getresponse().read()
        assert not engine.release.is_set()
        engine.release.set()
        assert len(json.loads(slow.getresponse().read())) == 10
        slow.close()


def test_over_serve_http_a_head_alone_is_a_whole_answer(engine: Engine) -> None:
    head = b"HEAD /rcp HTTP/1.1\r\nHost: localhost\r\n\r\n"
    body = json.dumps(request("ping")).encode()
    post = b"POST /rcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(body)
    with (
        served(engine.server) as connection,
        socket.create_connection(("127.0.0.1", connection.port), timeout=3) as raw,
    ):
        raw.sendall(head)
        assert raw.recv(1_000).startswith(b"HTTP/1.1 405 ")  # before the connection times out
        raw.sendall(head + post + body)
        received = b""
        while b'"result"' not in received:
            received += raw.recv(1_000)
        assert received.count(b"HTTP/1.1 ") == 2


def test_over_serve_http_a_deadline_holds_for_a_handler_that_was_quick() -> None:
    engine = Engine(limits=rcp.Limits(deadline_seconds=0.2))
    engine.server.on("retrieve", lambda params: engine.release.wait(10) and {"hits": []})
    with served(engine.server) as connection:
        connection.request("POST", "/rcp", json.dumps(retrieve()))
        assert json.loads(connection.getresponse().read())["error"]["code"] == -32014
        engine.release.set()


def test_async_handlers_all_run_on_one_loop(engine: Engine) -> None:
    loops: set[int] = set()

    async def where(params: dict[str, Any]) -> Any:
        loops.add(id(asyncio.get_running_loop()))
        return {"hits": []}

    engine.server.on("retrieve", where)
    with served(engine.server) as connection:
        for accept in ("application/json", SSE) * 3:
            connection.request("POST", "/rcp", json.dumps(retrieve()), {"Accept": accept})
            assert b"result" in connection.getresponse().read()
    assert len(loops) == 1


def test_a_port_that_is_taken_is_an_error_and_not_a_hang(
    engine: Engine, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(SystemExit):
            engine.server.serve_http(taken.getsockname()[1])


def test_a_stop_signal_lets_streams_end_as_streams_should() -> None:
    script = Path(__file__).parent.parent / "servers" / "plain.py"
    with subprocess.Popen(
        [sys.executable, str(script), "http", "0.2"], stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        connection = http.client.HTTPConnection("127.0.0.1", int(server.stdout.readline()))
        for message in (initialize(), retrieve("sleep:60", token="t")):
            connection.request("POST", "/rcp", json.dumps(message), {"Accept": SSE})
            response = connection.getresponse()
            if message["method"] == "initialize":
                response.read()
        assert b"progress" in response.readline()
        server.terminate()
        assert b'"code":-32006' in response.read()
        connection.close()
        assert server.wait(10) == -signal.SIGTERM


def test_an_interrupt_ends_the_server_and_is_no_error() -> None:
    script = Path(__file__).parent.parent / "servers" / "plain.py"
    with subprocess.Popen(
        [sys.executable, str(script), "http"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdout is not None and server.stderr is not None
        assert int(server.stdout.readline())
        server.send_signal(signal.SIGINT)
        assert (server.wait(10), server.stderr.read()) == (0, "")
