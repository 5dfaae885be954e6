"""The server's own interface, and the threads it runs on."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest

from retrieval import rcp
from retrieval.rcp.errors import error_from_wire
from retrieval.rcp.transports.lookout import Lookout
from retrieval.rcp.workers import WorkerPool
from tests.retrieval.rcp.engine import initialize, request, retrieve


def test_handlers_are_registered_directly_or_as_decorators() -> None:
    server = rcp.Server()

    @server.on("retrieve")
    def first(params: dict[str, Any]) -> Any:
        return {"hits": []}

    @server.stream("rerank")
    def second(params: dict[str, Any]) -> Any:
        yield rcp.Progress(1.0)
        return {"scores": []}

    assert server.on("embed", first) is first
    server.advertise(rcp.Capability.Retrieve)
    server.handle(initialize())
    assert server.handle(retrieve())["result"] == {"hits": []}


@pytest.mark.parametrize("method", ["ping", "initialize", "retrive", "x-Vendor/do", "x-v"])
def test_a_method_that_cannot_be_handled_is_refused_at_registration(method: str) -> None:
    with pytest.raises(ValueError, match=method):
        rcp.Server().on(method, lambda params: {})


def test_handle_takes_decoded_messages_and_texts() -> None:
    server = rcp.Server()
    ping = request("ping", id_=1)
    answer = {"jsonrpc": "2.0", "id": 1, "result": {}}
    assert server.handle(ping) == answer
    assert server.handle(json.dumps(ping)) == answer
    assert server.handle(json.dumps(ping).encode()) == answer
    assert server.handle([ping]) == [answer]
    assert server.handle({"jsonrpc": "2.0", "method": "notifications/x"}) is None


@pytest.mark.parametrize("level", ["L0", "L1", "L2"])
def test_conformance_can_be_claimed(level: str) -> None:
    server = rcp.Server()
    assert server.handle(request("info"))["result"]["_meta"]["conformance"] == "L1"
    server.set_conformance(level)
    assert server.handle(request("info"))["result"]["_meta"]["conformance"] == level
    with pytest.raises(ValueError, match="conformance"):
        server.set_conformance("L9")


def test_a_handler_can_see_that_nobody_waits_any_more() -> None:
    server = rcp.Server()
    server.advertise(rcp.Capability.Retrieve)
    started, gave_up = threading.Event(), threading.Event()

    def busy(params: dict[str, Any]) -> Any:
        started.set()
        call = rcp.current_call()
        while not call.cancelled:
            started.wait(0.001)
        gave_up.set()
        return {"hits": []}

    server.on("retrieve", busy)
    server.handle(initialize())
    replies: list[Any] = []
    thread = threading.Thread(target=lambda: replies.append(server.handle(retrieve(id_=1))))
    thread.start()
    assert started.wait(5)
    server.handle({"jsonrpc": "2.0", "method": "notifications/cancel", "params": {"id": 1}})
    thread.join(5)
    assert replies[0]["error"]["code"] == -32006
    assert gave_up.wait(5)
    server.close()


def test_there_is_no_current_call_outside_of_a_handler() -> None:
    with pytest.raises(LookupError):
        rcp.current_call()


def test_closing_a_server_cancels_what_runs() -> None:
    server = rcp.Server()
    server.advertise(rcp.Capability.Retrieve)
    started, release = threading.Event(), threading.Event()

    def wait(params: dict[str, Any]) -> Any:
        started.set()
        release.wait(10)
        return {"hits": []}

    server.on("retrieve", wait)
    server.handle(initialize())
    replies: list[Any] = []
    thread = threading.Thread(target=lambda: replies.append(server.handle(retrieve())))
    thread.start()
    assert started.wait(5)
    server.close()
    thread.join(5)
    assert replies[0]["error"]["code"] == -32006
    release.set()


@pytest.mark.parametrize("code", list(rcp.Errc))
def test_every_code_comes_back_as_the_exception_that_has_it(code: rcp.Errc) -> None:
    error = error_from_wire({"code": int(code), "message": "m", "data": {"detail": "d"}})
    assert (error.code, error.message, error.data) == (code, "m", {"detail": "d"})
    assert type(error) is not rcp.RcpError
    assert error.to_wire() == {"code": code, "message": "m", "data": {"detail": "d"}}


def test_a_code_that_nobody_knows_is_a_plain_error() -> None:
    assert type(error_from_wire({"code": -1, "message": 7})) is rcp.RcpError


def test_a_pool_runs_no_more_jobs_at_once_than_it_has_room_for() -> None:
    pool = WorkerPool(2)
    running, most = 0, 0
    lock, go, done = threading.Lock(), threading.Event(), threading.Semaphore(0)

    def job() -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        go.wait(5)
        with lock:
            running -= 1
        done.release()

    for _ in range(6):
        pool.submit(job)
    assert not pool.has_room()
    go.set()
    for _ in range(6):
        assert done.acquire(timeout=5)
    assert most == 2
    pool.close()


def test_a_job_that_fails_does_not_take_its_thread_along(caplog: pytest.LogCaptureFixture) -> None:
    pool = WorkerPool(1)
    done = threading.Event()
    pool.submit(lambda: 1 / 0)  # type: ignore[arg-type, return-value]
    pool.submit(done.set)
    assert done.wait(5)
    assert "a job failed" in caplog.text
    pool.close()


def test_the_lookout_hands_over_once_from_a_turn_that_takes_long() -> None:
    handed_over = threading.Semaphore(0)
    lookout = Lookout(handed_over.release)
    for _ in range(50):
        if not lookout.keeps_on(lookout.begin()):  # a busy machine held this thread up
            assert handed_over.acquire(timeout=5)
    for _ in range(3):
        turn = lookout.begin()
        assert handed_over.acquire(timeout=5)
        assert not lookout.keeps_on(turn)
    assert not handed_over.acquire(blocking=False)
    lookout.stop()
