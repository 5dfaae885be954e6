"""What breaks around open answers, on SQLite: each that has begun is stored exactly once."""

from __future__ import annotations

import os
import signal
import socket
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.chats.live_parts import SILENT, SLOW, Visitor, begun, env, first_text, journal
from tests.live import Server, ServerFactory, until
from tests.sse_client import Stream

BOOT_SECONDS = 60  # of a gunicorn worker, on a busy machine
OPEN = 50


def scripted(*script: str) -> dict[str, Any]:
    return {"BACKEND": "tests.chats.parts.ScriptedModel", "OPTIONS": {"script": script}}


def started(streams: Iterable[Stream]) -> list[str]:
    """Ids of the answers."""
    return [begun(stream).data["message_id"] for stream in streams]


def assert_stored_once(server: Server, ids: Sequence[str]) -> None:
    """With their questions, and nothing else."""
    assert journal(server) == 0
    rows = server.sql("select id, role, chat_id from chats_message")
    stored = sorted(row[0] for row in rows if row[1] == "assistant")
    assert stored == sorted(one.replace("-", "") for one in ids)
    questions = {row[2] for row in rows if row[1] == "user"}
    assert questions == {row[2] for row in rows} and len(rows) == 2 * len(ids)


def reasons(server: Server) -> set[str]:
    query = "select distinct finish_reason from chats_message where role = 'assistant'"
    return {row[0] for row in server.sql(query)}


@pytest.mark.timeout(240)
def test_a_killed_worker_loses_none_of_fifty_open_answers(real_server: ServerFactory) -> None:
    conf = {"heartbeat_seconds": 0.5, "shutdown_grace_seconds": 2.0}
    server = real_server(command="gunicorn", args=("--workers", "2"), env=env(SLOW, **conf))
    streams = [Visitor(server).ask(timeout=BOOT_SECONDS) for _ in range(OPEN)]
    ids = started(streams)
    pid = server.process.pid
    workers = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    os.kill(int(workers[0]), signal.SIGKILL)
    cut_off = [stream for stream in streams if not goes_on(stream)]
    # The worker that takes its place stores what it left behind.
    query = "select count(*) from chats_message where role = 'assistant'"
    until(lambda: server.sql(query)[0][0] == len(cut_off), BOOT_SECONDS, "stored answers")
    for stream in set(streams) - set(cut_off):
        assert first_text(stream)
    server.terminate(BOOT_SECONDS)
    assert_stored_once(server, ids)
    assert reasons(server) == {"interrupted"}
    for stream in streams:
        stream.close()


def goes_on(stream: Stream) -> bool:
    deadline = time.monotonic() + 1.0
    with suppress(EOFError, OSError):
        while time.monotonic() < deadline:
            stream.next()
        return True
    return False


@pytest.mark.timeout(240)
def test_a_full_disk_refuses_questions_and_loses_no_answer(real_server: ServerFactory) -> None:
    values = env(scripted("x" * 20_000, "end."), heartbeat_seconds=60.0)
    server = real_server(env=values)
    ids = [ask_and_end(Visitor(server))[0]]
    pages = server.sql("pragma page_count")[0][0]
    server.terminate()
    limited = values | {"FULL_AT_PAGE": str(pages + 12)}
    settings = "tests.chats.full_disk_settings"
    full = real_server(env=limited, settings=settings, var_dir=server.var_dir)
    accepted = []
    while (stream := Visitor(full).ask("Why? " * 1_500, timeout=60)).status == 200:
        ids += started([stream])
        accepted.append(stream)
    with stream:
        assert (stream.status, stream.json()["error"]["code"]) == (503, "SERVICE_UNAVAILABLE")
        assert int(stream.headers["retry-after"]) >= 1
    for stream in accepted:
        with stream:
            assert stream.events()[-1].data["finish_reason"] in {"stop", "error"}
    with full.get("/healthz") as alive:
        assert alive.status == 200
    full.kill()
    again = real_server(env=values, var_dir=server.var_dir)
    ids.append(ask_and_end(Visitor(again))[0])
    until(lambda: journal(again) == 0, 5, "empty journal")
    assert_stored_once(again, ids)


def ask_and_end(visitor: Visitor, question: str = "Why?") -> tuple[str, str]:
    with visitor.ask(question, timeout=30) as stream:
        (message_id,) = started([stream])
        return message_id, stream.events()[-1].data["finish_reason"]


def test_a_slow_reader_gets_the_whole_answer_and_holds_nobody_up(
    real_server: ServerFactory,
) -> None:
    server = real_server(env=env({"BACKEND": "benchmarks.models.InstantModel"}))
    question = "20000 tokens of six characters"
    with Visitor(server).ask(question, receive_buffer=4_096) as slow:
        ids = started([slow])
        for _ in range(5):
            began = time.monotonic()
            message_id, reason = ask_and_end(Visitor(server), "20 tokens")
            assert reason == "stop" and time.monotonic() - began < 5
            ids.append(message_id)
        assert slow.events()[-1].data["finish_reason"] == "stop"
    until(lambda: journal(server) == 0, 5, "empty journal")
    assert_stored_once(server, ids)
    lengths = server.sql("select length(content) from chats_message where role = 'assistant'")
    assert set(lengths) == {(120_000,), (120,)}


def test_two_hundred_connections_that_send_nothing_keep_nobody_out(
    real_server: ServerFactory,
) -> None:
    server = real_server(env=env(SLOW, shutdown_grace_seconds=2.0))
    idle = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(200)]
    streams = [Visitor(server).ask() for _ in range(5)]
    ids = started(streams)
    for stream in streams:
        assert first_text(stream)
    server.terminate(10)
    assert_stored_once(server, ids)
    for one in (*streams, *idle):
        one.close()


def test_a_model_that_hangs_ends_each_answer_with_a_timeout(real_server: ServerFactory) -> None:
    server = real_server(env=env(SILENT, first_token_seconds=1.0))
    streams = [Visitor(server).ask() for _ in range(20)]
    ids = started(streams)
    for stream in streams:
        with stream:
            end = stream.events()[-1].data
            assert (end["finish_reason"], end["error"]["code"]) == ("error", "TIMEOUT")
    assert_stored_once(server, ids)
