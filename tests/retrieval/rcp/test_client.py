"""The clients, against our servers in other processes."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from retrieval import rcp
from retrieval.rcp.client import calls

SERVERS = Path(__file__).parent / "servers"
PLAIN = [sys.executable, str(SERVERS / "plain.py")]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with subprocess.Popen([*PLAIN, "http"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/rcp"
        process.terminate()


@pytest.fixture(scope="module", params=["stdio", "http"])
def client(request: pytest.FixtureRequest, url: str) -> Iterator[rcp.Client]:
    over_stdio = request.param == "stdio"
    with rcp.connect_stdio(PLAIN) if over_stdio else rcp.connect_http(url) as made:
        yield made


def test_the_handshake_tells_who_the_server_is(client: rcp.Client) -> None:
    assert client.server == {"name": "plain", "version": "2.0"}
    assert client.protocol_version == 1
    assert client.capabilities["retrieve"]["maxK"] == 50
    assert client.supports(rcp.Capability.Embed)
    assert not client.supports(rcp.Capability.Graph)


def test_typed_calls_return_typed_results(client: rcp.Client) -> None:
    assert [hit["id"] for hit in client.retrieve("tower", 5)["hits"]] == ["d2", "d5"]
    assert client.rerank("q", ["a", "ccc", "bb"], top_n=2)["results"] == [
        {"index": 1, "score": 3.0},
        {"index": 2, "score": 2.0},
    ]
    assert client.feedback([{"hitId": "d2", "used": True}]) == {"accepted": 1}
    assert client.transform("q", "multi-query", n=3) == {"queries": ["q", "q", "q"]}
    assert client.ping("nonce") == {"nonce": "nonce"}
    assert client.info()["server"]["name"] == "plain"
    assert client.call("retrieve", {"query": "cat"})["hits"][0]["id"] == "d1"


@pytest.mark.parametrize("encoding", [None, "json", "f32-base64"])
def test_vectors_are_decoded_whichever_way_they_travel(
    client: rcp.Client, encoding: str | None
) -> None:
    assert client.embed(["a", "bbb"], encoding=encoding) == [[1.0, 0.5, -1.0], [3.0, 0.5, -1.0]]


def test_documents_are_added_found_and_deleted(client: rcp.Client) -> None:
    assert client.index_add([{"id": "n1", "text": "a zebra"}])["ids"] == ["n1"]
    assert client.retrieve("zebra")["hits"][0]["id"] == "n1"
    assert client.index_delete(["n1", "absent"]) == {"deleted": 1}


def test_a_capability_that_is_missing_is_refused_before_any_io(client: rcp.Client) -> None:
    for ask in (lambda: client.graph("local"), client.catalog, lambda: client.memory_recall("q")):
        with pytest.raises(rcp.CapabilityMissing):
            ask()


def test_errors_of_the_server_come_as_exceptions_of_their_code(client: rcp.Client) -> None:
    with pytest.raises(rcp.InvalidParams) as caught:
        client.retrieve("q", 0)
    assert caught.value.data == {"field": "k"}
    with pytest.raises(rcp.OptionUnsupported):
        client.retrieve("q", mode="dense")
    with pytest.raises(rcp.BackendUnavailable, match="the index is down"):
        client.retrieve("fail")
    with pytest.raises(rcp.UnknownMethod):
        client.call("no/such")
    with pytest.raises(rcp.InvalidRequest):
        client.call("initialize", {"protocolVersion": 1})


def test_progress_reaches_the_callback_in_the_callers_thread(client: rcp.Client) -> None:
    seen: list[tuple[str, str]] = []
    frames: list[rcp.Progress] = []

    def on_progress(progress: rcp.Progress) -> None:
        seen.append((threading.current_thread().name, progress.stage))
        frames.append(progress)

    result = client.retrieve("tower", on_progress=on_progress)
    assert len(result["hits"]) == 2
    assert seen == [(threading.current_thread().name, "recall")]
    assert (frames[0].progress, frames[0].message) == (0.5, "2 found")
    assert frames[0].hits == ["d2", "d5"]


def test_the_result_is_the_same_without_a_single_frame(client: rcp.Client) -> None:
    assert client.retrieve("tower") == client.retrieve("tower", on_progress=lambda _: None)


def test_a_request_is_cancelled_by_the_id_its_caller_chose(client: rcp.Client) -> None:
    def stop(progress: rcp.Progress) -> None:
        if progress.stage == "asleep":
            client.cancel("mine", "changed my mind")

    with pytest.raises(rcp.Cancelled):
        client.retrieve("sleep:30", id="mine", on_progress=stop)
    assert client.ping() == {}


def test_an_id_in_flight_may_not_be_chosen_again_and_is_not_given_out(client: rcp.Client) -> None:
    def interfere(progress: rcp.Progress) -> None:
        if progress.stage == "recall":
            with pytest.raises(ValueError, match="in flight"):
                client.ping(id=10_000)
            assert client.ping() == {}

    assert "hits" in client.retrieve("sleep:0.5", id=10_000, on_progress=interfere)
    assert client.ping(id=10_000) == {}


def test_a_callback_that_raises_calls_the_request_off(client: rcp.Client) -> None:
    def fail(progress: rcp.Progress) -> None:
        raise LookupError("seen enough")

    with pytest.raises(LookupError, match="seen enough"):
        client.retrieve("sleep:30", on_progress=fail)
    assert client.ping() == {}


def test_a_call_has_a_time_out(client: rcp.Client) -> None:
    begun = time.monotonic()
    with pytest.raises(rcp.Timeout):
        client.retrieve("sleep:30", timeout=0.2)
    assert time.monotonic() - begun < 3
    assert client.ping() == {}


def test_one_client_serves_many_threads(client: rcp.Client) -> None:
    results: list[Any] = []
    threads = [
        threading.Thread(target=lambda: results.append(client.retrieve("sleep:0.1")))
        for _ in range(8)
    ]
    begun = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 8
    assert time.monotonic() - begun < 3


def test_the_log_of_the_server_reaches_a_client_that_asks_for_it() -> None:
    entries: list[Any] = []
    with rcp.connect_stdio(PLAIN, on_log=entries.append) as client:
        client.retrieve("cat")
    assert entries == [
        {
            "level": "info",
            "message": "searched",
            "logger": "retrieve",
            "data": {"query": "cat"},
        }
    ]


def test_shutdown_ends_a_stdio_server_and_never_raises() -> None:
    client = rcp.connect_stdio(PLAIN)
    client.shutdown()
    client.shutdown()


async def test_the_asynchronous_client_does_the_same(url: str) -> None:
    for opening in (rcp.AsyncClient.connect_stdio(PLAIN), rcp.AsyncClient.connect_http(url)):
        async with await opening as client:
            assert len((await client.retrieve("tower"))["hits"]) == 2
            frames: list[rcp.Progress] = []
            both = await asyncio.gather(
                client.retrieve("sleep:0.1", on_progress=frames.append),
                client.embed(["a"]),
            )
            assert both[1] == [[1.0, 0.5, -1.0]]
            assert frames[0].stage == "recall"


async def test_cancelling_the_waiting_task_cancels_the_request(url: str) -> None:
    for opening in (rcp.AsyncClient.connect_stdio(PLAIN), rcp.AsyncClient.connect_http(url)):
        async with await opening as client:
            frames: asyncio.Queue[rcp.Progress] = asyncio.Queue()
            task = asyncio.create_task(client.retrieve("sleep:30", on_progress=frames.put_nowait))
            await frames.get()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert await client.ping() == {}


def test_params_that_are_not_given_are_not_sent() -> None:
    asked = calls.retrieve("q", 3, include_text=False, rerank=False, more={"x": 1})
    assert asked.params == {"query": "q", "k": 3, "rerank": False, "includeText": False, "x": 1}
