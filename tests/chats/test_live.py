"""Answers on a real server: frames, leaving, crashing (CASES.md, Stream life cycle)."""

from __future__ import annotations

import random
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.chats.live_parts import (
    HEAVY,
    SILENT,
    SLOW,
    SLOW_SEARCH,
    Visitor,
    answers,
    begun,
    env,
    first_text,
    journal,
    open_databases,
)
from tests.live import ROOT, Server, ServerFactory, environment, until
from tests.sse_client import Comment, Event

LEAVING_SECONDS = 1.0


def settled(server: Server, count: int = 1) -> None:
    """One second after its client has left, an answer is stored."""
    until(lambda: len(answers(server)) == count, LEAVING_SECONDS, f"{count} answers stored")
    assert journal(server) == 0


def test_the_stream_is_the_documented_frames_and_nothing_else(real_server: ServerFactory) -> None:
    server = real_server(env=env())
    visitor = Visitor(server)
    with visitor.ask() as stream:
        assert stream.status == 200
        assert stream.headers["content-type"] == "text/event-stream; charset=utf-8"
        assert stream.headers["cache-control"] == "no-cache, no-transform"
        assert stream.headers["x-accel-buffering"] == "no"
        assert stream.headers["content-encoding"] == "identity"
        text = stream.read().decode()
    frames = text.split("\n\n")
    assert frames.pop() == ""
    parsed = []
    for frame in frames:
        first, second = frame.split("\n")
        parsed.append(Event(first.removeprefix("event: "), second.removeprefix("data: ")))
        assert (first, second) == (f"event: {parsed[-1].name}", f"data: {parsed[-1].text}")
    start, sources, *deltas, end = parsed
    assert [event.name for event in parsed] == [
        "message_start",
        "sources",
        *["delta"] * len(deltas),
        "message_end",
    ]
    assert list(start.data) == ["chat_id", "user_message_id", "message_id"]
    message_id = start.data["message_id"]
    assert sources.data == {"message_id": message_id, "sources": []}
    assert end.data == {"message_id": message_id, "finish_reason": "stop"}
    said = "".join(event.data["delta"]["text"] for event in deltas)
    chat = visitor.get(f"/api/chats/{start.data['chat_id']}")
    question, answer = chat["messages"]
    assert (question["id"], question["content"]) == (start.data["user_message_id"], "Why?")
    assert (answer["id"], answer["content"]) == (message_id, said)
    assert len(deltas) > 5 and answer["finish_reason"] == "stop"


def test_message_start_arrives_while_the_search_still_runs(real_server: ServerFactory) -> None:
    server = real_server(env=env(embedder=SLOW_SEARCH, keepalive_seconds=0.2))
    began = time.monotonic()
    with Visitor(server).ask() as stream:
        begun(stream)
        assert time.monotonic() - began < 1
        assert isinstance(stream.next(), Comment)
        assert isinstance(stream.next(), Comment)
        sources = stream.event()
    assert time.monotonic() - began > 1.5
    assert sources is not None and sources.name == "sources"


@pytest.mark.parametrize("encoding", ["identity", "gzip, br"])
def test_each_token_arrives_as_it_is_made(real_server: ServerFactory, encoding: str) -> None:
    server = real_server(env=env(SLOW | {"OPTIONS": {"delay": 0.1}}))
    headers = {"Accept-Encoding": encoding}
    with server.post("/api/chats", {"content": "Why?"}, headers=headers) as stream:
        first_text(stream)
        began = time.monotonic()
        for _ in range(5):
            first_text(stream)
        assert 0.3 < time.monotonic() - began < 1.5


# Leaving


def test_who_leaves_before_the_first_token_is_answered_with_nothing(
    real_server: ServerFactory,
) -> None:
    server = real_server(env=env(SILENT))
    stream = Visitor(server).ask()
    begun(stream)
    stream.event()
    stream.reset()
    settled(server)
    assert answers(server) == [("interrupted", "")]


def test_who_leaves_in_mid_answer_keeps_what_was_said(slow_server: Server) -> None:
    stream = Visitor(slow_server).ask()
    chat_id = begun(stream).data["chat_id"]
    said = "".join(first_text(stream) for _ in range(5))
    stream.close()
    until(lambda: answers(slow_server, chat_id), LEAVING_SECONDS, "answer stored")
    ((reason, content),) = answers(slow_server, chat_id)
    assert reason == "interrupted" and content.startswith(said)


def test_who_leaves_during_the_search_is_answered_with_nothing(real_server: ServerFactory) -> None:
    server = real_server(env=env(embedder=SLOW_SEARCH))
    stream = Visitor(server).ask()
    begun(stream)
    stream.reset()
    settled(server)
    assert answers(server) == [("interrupted", "")]


def test_who_leaves_without_reading_is_noticed(real_server: ServerFactory) -> None:
    server = real_server(env=env(HEAVY))
    stream = Visitor(server).ask(receive_buffer=4_096)
    begun(stream)
    time.sleep(0.5)  # its send() blocks by now
    stream.reset()
    settled(server)
    assert answers(server)[0][0] == "interrupted"


def test_a_client_that_never_reads_is_bounded(real_server: ServerFactory) -> None:
    server = real_server(env=env(HEAVY, generation_seconds=0.5))
    with Visitor(server).ask(receive_buffer=4_096) as stream:
        begun(stream)
        until(lambda: answers(server), 3, "answer stored")
        assert answers(server)[0][0] == "error"


def test_nothing_is_left_after_a_hundred_broken_streams(slow_server: Server) -> None:
    server = slow_server
    Visitor(server).with_session()
    rows, descriptors = len(answers(server)), open_databases(server)
    dice = random.Random(7)

    def break_off(number: int) -> None:
        visitor = Visitor(server)
        stream = visitor.ask()
        for _ in range(dice.randrange(6)):
            stream.event()
        stream.reset() if number % 2 else stream.close()

    with ThreadPoolExecutor(10) as pool:
        list(pool.map(break_off, range(100)))
    settled(server, rows + 100)
    assert {reason for reason, _ in answers(server)} == {"interrupted"}
    assert open_databases(server) <= descriptors
    with server.get("/metrics") as metrics:
        assert b"fastrag_open_streams 0.0" in metrics.read()
    assert "Traceback" not in server.output() and "never retrieved" not in server.output()


def test_who_leaves_before_the_response_exists_leaves_nothing(slow_server: Server) -> None:
    dice = random.Random(7)
    body = b'{"content": "Why?"}'
    head = (
        "POST /api/chats HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    for _ in range(50):
        with socket.create_connection(("127.0.0.1", slow_server.port)) as sock:
            sock.sendall(head.encode() + body)
            time.sleep(dice.random() * 0.02)
    until(lambda: journal(slow_server) == 0, 2, "empty journal")
    assert {reason for reason, _ in answers(slow_server)} <= {"interrupted"}


# Shutting down and crashing


def test_a_shutdown_ends_open_answers_and_stores_them(real_server: ServerFactory) -> None:
    server = real_server(env=env(SLOW))
    with Visitor(server).ask() as stream:
        said = first_text(stream)
        server.process.terminate()
        events = stream.events()
    assert server.process.wait(10) is not None
    end = events[-1]
    assert (end.name, end.data["finish_reason"]) == ("message_end", "interrupted")
    said += "".join(event.data["delta"]["text"] for event in events[:-1])
    assert answers(server) == [("interrupted", said)] and journal(server) == 0


def test_a_killed_server_loses_no_question(real_server: ServerFactory) -> None:
    server = real_server(env=env(SLOW, heartbeat_seconds=0.1))
    visitor = Visitor(server)
    with visitor.ask("Will this be kept?") as stream:
        start = begun(stream)
        first_text(stream)
        until(lambda: server.sql("select 1 from chats_generation where said > ''"), 3, "heartbeat")
        server.kill()
    again = real_server(env=env(), var_dir=server.var_dir)
    visitor.server = again
    chat = visitor.get(f"/api/chats/{start.data['chat_id']}")
    question, answer = chat["messages"]
    assert question["content"] == "Will this be kept?"
    assert (answer["id"], answer["finish_reason"]) == (start.data["message_id"], "interrupted")
    assert answer["content"].startswith("xxxx")
    with visitor.ask("And now?", chat_id=chat["id"]) as stream:
        assert stream.events()[-1].data["finish_reason"] == "stop"


def test_ask_is_interrupted_from_the_keyboard(migrated_var_dir: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(migrated_var_dir, tmp_path / "var"))
    command = [sys.executable, "manage.py", "ask", "Why?"]
    variables = environment(folder, "fastrag_site.settings", env(SLOW))
    with subprocess.Popen(
        command, cwd=ROOT, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as asking:
        assert asking.stdout is not None
        while b"xxxx" not in asking.stdout.read1():
            pass
        asking.send_signal(signal.SIGINT)
        _, errors = asking.communicate(timeout=10)
    assert asking.returncode == 130
    assert errors.endswith(b"interrupted; what was said is stored\n")
    database = sqlite3.connect(folder / "fastrag.sqlite3")
    query = "select finish_reason from chats_message where role = 'assistant'"
    assert database.execute(query).fetchall() == [("interrupted",)]
    database.close()
