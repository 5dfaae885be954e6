"""`manage.py rcp`: our engine over stdio, in a process of its own."""

from __future__ import annotations

import random
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from retrieval import rcp
from tests.live import copied, environment
from tests.retrieval.rcp_process import Process, argv, start

reference = pytest.importorskip("rcp")

DOCUMENTS = [
    {"id": f"lever-{number}", "text": f"Lever {number} moves crane {number % 7} of hall {number}."}
    for number in range(40)
]
HANDSHAKE = {"protocolVersion": 1, "client": {"name": "tests"}, "capabilities": {"log": {}}}


@pytest.fixture(scope="module")
def var_dir(migrated_var_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with documents, added over stdio."""
    folder = copied(migrated_var_dir, tmp_path_factory)
    with start(folder) as process:
        process.ask("initialize", HANDSHAKE, id_=0)
        assert process.ask("index/add", {"documents": DOCUMENTS})["chunks"] == len(DOCUMENTS)
        assert process.end() == 0
    return folder


@pytest.fixture
def process(var_dir: Path) -> Iterator[Process]:
    with start(var_dir) as process:
        process.ask("initialize", HANDSHAKE, id_=0)
        yield process


def test_the_end_of_stdin_is_the_end(var_dir: Path) -> None:
    with start(var_dir) as process:
        assert process.end() == 0
        assert process.lines == []


def test_without_tables_it_says_what_to_do(tmp_path: Path) -> None:
    env = environment(tmp_path / "var", "fastrag_site.settings", {"FASTRAG_EMBEDDER": "null"})
    ran = subprocess.run(argv(), stdin=subprocess.DEVNULL, capture_output=True, text=True, env=env)
    assert (ran.returncode, ran.stdout) == (1, "")
    assert "manage.py migrate" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_what_was_asked_before_the_end_is_answered_whatever_stood_between(
    process: Process,
) -> None:
    for number in range(1, 6):
        process.send("retrieve", {"query": f"lever {number}", "k": 1}, id_=number)
        process.write(b"\xef\xbb\xbf\r\n\n  \ngarbage\n\xff\n" + b"[" * 20_000 + b"\n[]\n")
    assert process.end() == 0
    codes = [line["error"]["code"] for line in process.lines if "error" in line]
    assert Counter(codes) == {-32700: 15, -32600: 5}
    assert {line["id"] for line in process.lines if "result" in line} == set(range(6))


def test_nothing_is_answered_before_the_handshake_nor_after_the_shutdown(var_dir: Path) -> None:
    with start(var_dir) as process:
        assert process.ask("retrieve", {"query": "lever", "k": 1})["code"] == -32001
        assert process.ask("info")["_meta"]["conformance"] == "L2"
        assert process.ask("shutdown") == {}
        assert process.process.wait(60) == 0


def test_prints_and_logs_stay_off_stdout(var_dir: Path) -> None:
    env = {
        "FASTRAG_EMBEDDER": '{"BACKEND": "tests.retrieval.loud.LoudEmbedder"}',
        "LOG_LEVEL": "DEBUG",
        "DEBUG": "true",
        "PYTHONWARNINGS": "always",
    }
    with start(var_dir, env=env) as process:  # whose every line is parsed
        process.ask("initialize", HANDSHAKE, id_=0)
        result = process.ask("retrieve", {"query": "lever 3", "k": 2, "mode": "dense"})
        assert result["code"] == -32010
        assert process.ask("embed", {"inputs": ["x"]})["vectors"] == [[1.0, 0.0]]
        assert process.end() == 0


def test_a_read_only_server_takes_no_documents(var_dir: Path) -> None:
    with start(var_dir, "--read-only") as process:
        process.ask("initialize", HANDSHAKE, id_=0)
        assert process.ask("index/add", {"documents": DOCUMENTS[:1]})["code"] == -32003
        assert process.ask("retrieve", {"query": "lever", "k": 1})["hits"]


def test_fifty_in_flight_with_random_cancels_get_one_answer_each(process: Process) -> None:
    dice = random.Random(7)
    for number in range(1, 51):
        token = {"progressToken": number}
        params = {"query": f"lever {number} of crane", "k": 3, "sessionId": "s", "_meta": token}
        process.send("retrieve", params, id_=number)
        if dice.random() < 0.3:
            process.send("notifications/cancel", {"id": dice.randrange(1, number + 1)})
        process.send("ping", {"nonce": number}, id_=f"ping-{number}")
    assert process.end() == 0

    answers = Counter(line["id"] for line in process.lines if "id" in line)
    assert answers == Counter([0, *range(1, 51), *(f"ping-{number}" for number in range(1, 51))])
    for number in range(1, 51):
        own = [line for line in process.lines if belongs(line, number)]
        assert "id" in own[-1]
        progress = [line["params"]["progress"] for line in own[:-1]]
        assert progress == sorted(progress)
        assert "result" in own[-1] or own[-1]["error"]["code"] == -32006
    shown = [
        hit["id"]
        for line in process.lines
        if isinstance(line.get("id"), int) and "hits" in line.get("result", {})
        for hit in line["result"]["hits"]
    ]
    assert len(shown) >= 50


def belongs(line: dict[str, Any], number: int) -> bool:
    if line.get("method") == "notifications/progress":
        return bool(line["params"]["progressToken"] == number)
    return line.get("id") == number and "method" not in line


# Clients


def test_the_independent_client_drives_it(var_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in environment(var_dir, "fastrag_site.settings", None).items():
        monkeypatch.setenv(name, value)
    client = reference.connect_stdio(argv())
    try:
        assert client.server["name"] == "fastrag-site"
        assert client.ping("n")["nonce"] == "n"
        hits = client.retrieve("lever 17", k=3)
        assert "Lever 17" in hits[0]["text"]
        dimension = client.capabilities["embed"]["dimension"]
        assert [len(vector) for vector in client.embed(["a", "b"])] == [dimension] * 2
        scores = client.rerank("a crane", ["a cake", "the crane"])
        assert scores[1] > scores[0]
        added = client.index_add({"documents": [{"id": "z", "text": "A zebra in hall nine."}]})
        assert added["ids"] == ["z"]
        assert client.retrieve("zebra", k=1)[0]["text"] == "A zebra in hall nine."
        assert client.index_delete({"ids": ["z", "absent"]})["deleted"] == 1
        assert client.feedback([{"hitId": hits[0]["id"], "used": True}])["accepted"] == 1
        with pytest.raises(reference.RcpError, match="-32602"):
            client.call("retrieve", {"query": "x", "k": 0})
        with pytest.raises(reference.RcpError, match="-32004"):
            client.call("nonsense", {})
    finally:
        client.shutdown()


def test_our_client_drives_it(var_dir: Path) -> None:
    logs: list[Any] = []
    stages: list[str] = []
    env = environment(var_dir, "fastrag_site.settings", None)
    client = rcp.Client.connect_stdio(argv(), env=env, timeout=60, on_log=logs.append)
    with client:
        found = client.retrieve("lever 17", 3, on_progress=lambda event: stages.append(event.stage))
        assert "Lever 17" in found["hits"][0]["text"]
        assert stages[0] == "transform"
        assert stages[-1] == "pack"
        more = client.retrieve("lever 17", 3, cursor=found["nextCursor"])
        assert {hit["id"] for hit in found["hits"]}.isdisjoint(hit["id"] for hit in more["hits"])
        plain = client.embed(["crane"])
        assert client.embed(["crane"], encoding="f32-base64")[0] == pytest.approx(plain[0])
    assert logs
