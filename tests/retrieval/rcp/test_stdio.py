"""RCP.md, section 5: stdio, on a real process and on plain pipes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from retrieval import rcp
from tests.retrieval.rcp import schema
from tests.retrieval.rcp.engine import Engine, cancel, initialize, request, retrieve
from tests.retrieval.rcp.wires import open_stdio

SERVERS = Path(__file__).parent / "servers"


def run(name: str, *messages: Any, raw: bytes = b"", timeout: float = 20) -> Any:
    """Feed a server everything, close its stdin, and return what it did."""
    lines = b"".join(json.dumps(message).encode() + b"\n" for message in messages)
    return subprocess.run(
        [sys.executable, str(SERVERS / name)],
        input=lines + raw,
        capture_output=True,
        timeout=timeout,
        check=False,
        env={name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"},
    )


def messages_of(stdout: bytes) -> list[Any]:
    messages = [json.loads(line) for line in stdout.splitlines()]
    for message in messages:
        for member in message if isinstance(message, list) else [message]:
            schema.check(member)
    return messages


def test_stdout_carries_the_protocol_alone_whatever_handlers_print() -> None:
    hello = initialize()
    hello["params"]["capabilities"] = {"log": {}}
    done = run("noisy.py", hello, retrieve(id_=1, token="t"))
    messages = messages_of(done.stdout)
    assert b"noise" not in done.stdout
    replies = {message["id"]: message for message in messages if "id" in message}
    assert replies[1]["result"] == {"hits": [], "stdin": ""}
    assert {m["method"] for m in messages if "method" in m} == {
        "notifications/log",
        "notifications/progress",
    }
    for noise in (b"print", b"no line end", b"bytes", b"the real one", b"descriptor", b"C library"):
        assert b"noise: " + noise in done.stderr
    for noise in (
        b"child process",
        b"warning",
        b"log",
        b"again",
        b"before serving",
        b"after serving",
    ):
        assert b"noise: " + noise in done.stderr
    assert done.returncode == 0


def test_log_goes_only_to_a_client_that_advertised_it() -> None:
    done = run("noisy.py", initialize(), retrieve(id_=1))
    assert all("method" not in message for message in messages_of(done.stdout))


def test_what_was_asked_before_the_end_of_input_is_answered_before_exit() -> None:
    done = run("plain.py", initialize(), retrieve("sleep:0.3", id_=1), retrieve(id_=2))
    replies = {message["id"]: message for message in messages_of(done.stdout)}
    assert set(replies) == {0, 1, 2}
    assert "result" in replies[1]
    assert done.returncode == 0


def test_a_last_line_without_a_line_end_is_answered() -> None:
    done = run("plain.py", raw=b'{"jsonrpc":"2.0","id":1,"method":"ping"}')
    assert [message["id"] for message in messages_of(done.stdout)] == [1]
    assert done.returncode == 0


def test_no_input_at_all_ends_cleanly() -> None:
    done = run("plain.py")
    assert (done.stdout, done.stderr, done.returncode) == (b"", b"", 0)


def test_shutdown_ends_the_process_though_stdin_stays_open() -> None:
    with subprocess.Popen(
        [sys.executable, str(SERVERS / "plain.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        for message in (initialize(), retrieve("sleep:0.2", id_=1), request("shutdown", id_=2)):
            process.stdin.write(json.dumps(message).encode() + b"\n")
        process.stdin.flush()
        replies = [message["id"] for message in messages_of(process.stdout.read())]
        assert sorted(replies) == [0, 1, 2]
        assert process.wait(10) == 0


def test_standard_input_may_be_a_file(tmp_path: Path) -> None:
    script = tmp_path / "in.jsonl"
    script.write_text("\n".join(json.dumps(m) for m in (initialize(), retrieve(id_=1))))
    with script.open("rb") as source:
        done = subprocess.run(
            [sys.executable, str(SERVERS / "plain.py")],
            stdin=source,
            capture_output=True,
            timeout=20,
            check=True,
        )
    assert len(messages_of(done.stdout)) == 2


def test_lines_are_read_with_any_end_mark_and_spacing_and_written_with_none() -> None:
    ping = b'{"jsonrpc":"2.0","id":%d,"method":"ping"}'
    raw = b"\xef\xbb\xbf" + ping % 1 + b"\r\n\n  \n\r\n\t" + ping % 2 + b" \n\xef\xbb\xbf\n"
    done = run("plain.py", raw=raw)
    assert [message["id"] for message in messages_of(done.stdout)] == [1, 2]
    assert b"\r" not in done.stdout and b"\n\n" not in done.stdout
    assert not done.stdout.startswith(b"\xef\xbb\xbf")


def test_a_server_whose_client_is_gone_ends() -> None:
    process = subprocess.Popen(
        [sys.executable, str(SERVERS / "plain.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin and process.stdout and process.stderr
    process.stdin.write(json.dumps(initialize()).encode() + b"\n")
    process.stdin.flush()
    process.stdout.readline()
    process.stdout.close()
    process.stdin.write(json.dumps(retrieve("sleep:30")).encode() + b"\n")
    process.stdin.write(json.dumps(request("ping", id_=2)).encode() + b"\n")
    process.stdin.flush()
    assert process.wait(10) == 0
    process.stdin.close()
    assert process.stderr.read() == b""
    process.stderr.close()


# On pipes, in this process.


@pytest.fixture
def small() -> Iterator[Engine]:
    made = Engine(limits=rcp.Limits(message_bytes=2_000, concurrency=2, backlog=2))
    yield made
    made.release.set()
    made.server.close()


def test_a_line_that_is_too_long_is_refused_and_forgotten(small: Engine) -> None:
    with open_stdio(small.server) as wire:
        for size in (2_001, 70_000, 300_000):
            (reply,) = wire.send_raw(b'{"jsonrpc":"2.0","id":1,"method":"' + b"x" * size + b'"}')
            assert (reply["id"], reply["error"]["code"]) == (None, -32013)
        assert "result" in wire.start(initialize()).reply()


def test_messages_are_admitted_in_order_though_they_come_in_one_read(small: Engine) -> None:
    with open_stdio(small.server) as wire:
        texts = [initialize(0), retrieve("hold", id_=1), cancel(1), request("ping", id_=2)]
        replies = wire.send_raw(b"\n".join(json.dumps(text).encode() for text in texts))
        outcomes = {reply["id"]: reply.get("error", {}).get("code") for reply in replies}
        assert outcomes == {0: None, 1: -32006, 2: None}


def test_ping_info_and_cancel_get_through_when_every_worker_is_busy(small: Engine) -> None:
    with open_stdio(small.server) as wire:
        wire.start(initialize()).reply()
        held = [wire.start(retrieve("hold", id_=n)) for n in range(1, 5)]
        for _ in range(2):
            assert small.started.acquire(timeout=5)
        assert "result" in wire.start(request("ping", id_="p")).reply()
        assert "result" in wire.start(request("info", id_="i")).reply()
        refused = wire.start(retrieve(id_="more")).reply()["error"]
        assert refused["code"] == -32011
        assert refused["data"]["retryable"] is True
        for n in (4, 1):
            wire.start(cancel(n))
            assert held[n - 1].reply()["error"]["code"] == -32006
        small.release.set()
        assert all("result" in pending.reply() for pending in held[1:3])


def test_a_handler_that_was_quick_may_turn_slow(small: Engine) -> None:
    def sometimes(params: dict[str, Any]) -> Any:
        if params["query"] == "slow":
            small.started.release()
            small.release.wait(10)
        return {"hits": []}

    small.server.on("retrieve", sometimes)
    with open_stdio(small.server) as wire:
        wire.start(initialize()).reply()
        for n in range(20):
            wire.start(retrieve(id_=n + 1)).reply()
        slow = wire.start(retrieve("slow", id_="slow"))
        assert small.started.acquire(timeout=5)
        begun = time.monotonic()
        assert "result" in wire.start(request("ping", id_="p")).reply()
        assert "result" in wire.start(retrieve(id_="quick")).reply()
        assert time.monotonic() - begun < 1.0
        small.release.set()
        assert "result" in slow.reply()


def test_a_reply_larger_than_a_pipe_arrives_whole(small: Engine) -> None:
    text = "長い" * 300_000
    small.server.on("retrieve", lambda params: {"hits": [{"id": "a", "score": 1, "text": text}]})
    with open_stdio(small.server) as wire:
        wire.start(initialize()).reply()
        replies = [wire.start(retrieve(id_=n + 1)).reply() for n in range(3)]
        assert all(reply["result"]["hits"][0]["text"] == text for reply in replies)


def test_the_descriptors_of_a_finished_transport_are_left_to_their_owner(small: Engine) -> None:
    before = len(os.listdir("/proc/self/fd"))
    with open_stdio(small.server):
        pass
    for _ in range(100):
        if len(os.listdir("/proc/self/fd")) <= before:
            break
        threading.Event().wait(0.01)
    assert len(os.listdir("/proc/self/fd")) <= before
