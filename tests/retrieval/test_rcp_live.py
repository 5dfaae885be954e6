"""RCP over a real uvicorn: clients, streams, writers at once. Its examples: test_rcp_docs."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from retrieval import rcp
from tests.chats.live_parts import SLOW_SEARCH
from tests.live import ROOT, Server, copied, environment, serve, until
from tests.sse_client import Comment, Event, Stream

reference = pytest.importorskip("rcp")

SECONDS = {**SLOW_SEARCH, "OPTIONS": {"seconds": 1.5}}
DOCUMENTS = [
    {"id": f"lever-{number}", "text": f"Lever {number} moves crane {number % 7} of hall {number}."}
    for number in range(20)
]


@pytest.fixture(scope="module")
def server(migrated_var_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serve(copied(migrated_var_dir, tmp_path_factory)) as server:
        yield server


@pytest.fixture(scope="module")
def key(server: Server) -> str:
    command = ["manage.py", "apikey", "create", "ada", "--create-user", "--write"]
    env = environment(server.var_dir, "fastrag_site.settings", None)
    return subprocess.check_output([sys.executable, *command], cwd=ROOT, env=env, text=True).strip()


@pytest.fixture(scope="module")
def writer(server: Server, key: str) -> Iterator[rcp.Client]:
    """Our client with the right to write; the documents are there."""
    headers = {"Authorization": f"Bearer {key}"}
    with rcp.connect_http(f"{server.url}/rcp", headers=headers) as client:
        client.index_add(DOCUMENTS)
        yield client


def body(query: str, **params: Any) -> dict[str, Any]:
    params = {"query": query, "k": 3, **params}
    return {"jsonrpc": "2.0", "id": 1, "method": "retrieve", "params": params}


def stream(server: Server, query: str, **options: Any) -> Stream:
    message = body(query, _meta={"progressToken": 0})
    headers = {"Accept": "text/event-stream", **options.pop("headers", {})}
    return server.post("/rcp", message, headers=headers, **options)


def test_our_client_reads_and_writes(writer: rcp.Client) -> None:
    stages: list[str] = []
    found = writer.retrieve("lever 17", 2, on_progress=lambda event: stages.append(event.stage))
    assert "Lever 17" in (found["hits"][0]["text"] or "")
    assert (stages[0], stages[-1]) == ("transform", "pack")
    more = writer.retrieve("lever 17", 2, cursor=found["nextCursor"])
    assert {hit["id"] for hit in found["hits"]}.isdisjoint(hit["id"] for hit in more["hits"])
    assert writer.index_add([{"id": "z", "text": "A zebra in hall nine."}])["ids"] == ["z"]
    assert writer.retrieve("zebra", 1)["hits"][0]["chunk"]["docId"] == "z"
    assert writer.index_delete(["z"])["deleted"] == 1
    assert writer.feedback([{"hitId": found["hits"][0]["id"], "used": True}])["accepted"] == 1


def test_the_independent_client_reads(server: Server, writer: rcp.Client) -> None:
    client = reference.connect_http(f"{server.url}/rcp")
    assert client.server["name"] == "fastrag-site"
    assert client.ping("n")["nonce"] == "n"
    hits = client.retrieve("lever 17", k=3)
    assert "Lever 17" in hits[0]["text"]
    assert len(client.embed(["a", "b"])[1]) == client.capabilities["embed"]["dimension"]
    scores = client.rerank("a crane", ["a cake", "the crane"])
    assert scores[1] > scores[0]
    assert client.feedback([{"hitId": hits[0]["id"], "helpful": True}])["accepted"] == 1
    for code, method, params in (
        ("-32012", "index/add", {"documents": DOCUMENTS[:1]}),
        ("-32602", "retrieve", {"query": "x", "k": 0}),
        ("-32003", "graph", {"op": "local"}),
    ):
        with pytest.raises(reference.RcpError, match=code):
            client.call(method, params)


def test_a_stream_is_data_alone_and_ends_with_the_response(
    server: Server, writer: rcp.Client
) -> None:
    with stream(server, "lever 3", headers={"Accept-Encoding": "gzip"}) as response:
        assert response.status == 200
        assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
        assert response.headers["content-encoding"] == "identity"
        assert response.headers["x-accel-buffering"] == "no"
        events = response.events()
        sent = b"".join(response.chunks)
    assert all(line.startswith(b"data: {") for line in sent.split(b"\n") if line)
    assert [event.data.get("method") for event in events] == ["notifications/progress"] * 7 + [None]
    assert events[-1].data["result"]["hits"]


@pytest.mark.parametrize(
    ("accept", "is_stream"),
    [
        ("application/json, text/event-stream;q=0", False),
        ("TEXT/Event-Stream; q=0.9", True),
        ("*/*", False),
        ("text/event-stream", True),
    ],
)
def test_accept_decides(server: Server, accept: str, is_stream: bool) -> None:
    with server.post("/rcp", body("lever"), headers={"Accept": accept}) as response:
        kind = "text/event-stream" if is_stream else "application/json"
        assert response.headers["content-type"].startswith(kind)
        response.read()


def test_a_refusal_is_json_though_a_stream_was_asked_for(server: Server) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "index/add", "params": {}}
    with server.post("/rcp", message, headers={"Accept": "text/event-stream"}) as response:
        assert response.status == 401
        assert response.headers["content-type"].startswith("application/json")
        assert response.json()["error"]["code"] == -32012


def test_writers_at_once_and_readers_meanwhile_all_succeed(
    server: Server, writer: rcp.Client, key: str
) -> None:
    headers = {"Authorization": f"Bearer {key}"}
    outcomes: list[Any] = []
    barrier = threading.Barrier(8)

    def call(number: int) -> None:
        barrier.wait(10)
        method, params = "retrieve", {"query": f"tower {number}", "k": 1}
        if number < 4:
            # Two each with the same id: one of them is first, the other finds it done.
            document = {"id": f"tower-{number % 2}", "text": f"The tower number {number % 2}."}
            method, params = "index/add", {"documents": [document]}
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        with server.post("/rcp", message, headers=headers) as response:
            outcomes.append(response.json())

    threads = [threading.Thread(target=call, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert [outcome for outcome in outcomes if "result" not in outcome] == []
    assert len(outcomes) == 8
    assert server.sql("select count(*) from retrieval_document where name like 'tower-%'") == [(2,)]


# A search that takes a while


@pytest.fixture(scope="module")
def slow(
    server: Server,
    writer: rcp.Client,
    migrated_var_dir: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Server]:
    env = {"FASTRAG_EMBEDDER": json.dumps(SECONDS), "FASTRAG_KEEPALIVE_SECONDS": "0.2"}
    with serve(copied(server.var_dir, tmp_path_factory), env=env) as slow:
        yield slow


def test_frames_come_as_they_are_made_and_silence_is_kept_alive(slow: Server) -> None:
    started = time.monotonic()
    with stream(slow, "lever 3") as response:
        first = response.event()
        assert first is not None
        assert first.data["params"]["stage"] == "transform"
        assert time.monotonic() - started < SECONDS["OPTIONS"]["seconds"]
        rest = list(iter(response.next, None))
    assert sum(isinstance(one, Comment) for one in rest) >= 2
    assert isinstance(rest[-1], Event)
    assert "result" in rest[-1].data


def test_a_stream_that_waits_holds_no_database_connection(slow: Server) -> None:
    with stream(slow, "lever 4") as response:
        while (event := response.event()) and event.data["params"]["stage"] != "recall:sparse":
            pass
        until(lambda: not connections(slow), 1.2, "connection given back")
        assert response.events()[-1].data["result"]["hits"]


def test_a_buffered_request_that_waits_holds_none_either(slow: Server) -> None:
    with slow.send("/rcp", "POST", body=body("lever 5")) as sock:
        time.sleep(0.3)  # nothing tells how far it is
        until(lambda: not connections(slow), 1.0, "connection given back")
        sock.settimeout(10)
        assert b'"result"' in sock.recv(65_536) + sock.recv(65_536)


def test_a_cancel_with_the_session_stops_the_request(slow: Server) -> None:
    session = {"RCP-Session": "mine"}
    with stream(slow, "lever 6", headers=session) as response:
        response.event()
        cancel = {"jsonrpc": "2.0", "method": "notifications/cancel", "params": {"id": 1}}
        for headers in ({"RCP-Session": "another"}, {}, session):
            with slow.post("/rcp", cancel, headers=headers) as answer:
                assert answer.status == 204
        assert response.events()[-1].data["error"]["code"] == -32006


def connections(server: Server) -> list[str]:
    """The files of the database that the process has open."""
    folder = Path(f"/proc/{server.process.pid}/fd")
    found = []
    for link in folder.iterdir():
        try:
            found.append(str(link.readlink()))
        except OSError:
            continue
    return [path for path in found if path.endswith("fastrag.sqlite3")]


def test_a_server_that_leaves_ends_its_streams_with_a_reply(
    server: Server, writer: rcp.Client, tmp_path_factory: pytest.TempPathFactory
) -> None:
    env = {
        "FASTRAG_EMBEDDER": json.dumps({**SLOW_SEARCH, "OPTIONS": {"seconds": 5.0}}),
        "FASTRAG_SHUTDOWN_GRACE_SECONDS": "0.5",
    }
    with (
        serve(copied(server.var_dir, tmp_path_factory), env=env) as leaving,
        stream(leaving, "lever 7") as response,
    ):
        response.event()
        leaving.process.terminate()
        last = response.events()[-1].data
        assert last["error"]["code"] == -32006
        assert last["id"] == 1
        leaving.process.wait(10)
        assert "Traceback" not in leaving.output()
