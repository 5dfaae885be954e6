"""Caps and the busy rule under parallel requests to a real server (CASES.md, Chat state)."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from tests.chats.live_parts import SLOW, Visitor, answers, begun, env, first_text, journal
from tests.live import Server, ServerFactory, until
from tests.sse_client import Stream


def at_once(count: int, ask: Callable[[], Stream]) -> list[Stream]:
    """So many requests in the same moment; their responses, as far as the headers."""
    gate = threading.Barrier(count)

    def go(_: int) -> Stream:
        gate.wait()
        return ask()

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(go, range(count)))


def statuses(streams: list[Stream]) -> Counter[int]:
    return Counter(stream.status for stream in streams)


def codes(streams: list[Stream]) -> set[str]:
    return {stream.json()["error"]["code"] for stream in streams if stream.status != 200}


def close(streams: list[Stream]) -> None:
    for stream in streams:
        stream.close()


def test_two_posts_to_one_chat_are_one_answer_and_one_409(slow_server: Server) -> None:
    visitor = Visitor(slow_server)
    with visitor.ask() as stream:
        chat_id = begun(stream).data["chat_id"]
    for number in range(1, 6):
        until(lambda: len(answers(slow_server, chat_id)) == number, 2, "answer stored")  # noqa: B023
        streams = at_once(2, lambda: visitor.ask(chat_id=chat_id))
        assert statuses(streams) == {200: 1, 409: 1}
        assert codes(streams) == {"CHAT_BUSY"}
        close(streams)
    until(lambda: journal(slow_server) == 0, 2, "empty journal")
    messages = visitor.get(f"/api/chats/{chat_id}")["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant"] * 6


def test_of_ten_parallel_posts_a_cap_of_three_accepts_three(real_server: ServerFactory) -> None:
    server = real_server(env=env(SLOW, generations_per_owner=3))
    visitor = Visitor(server).with_session()
    streams = at_once(10, visitor.ask)
    assert statuses(streams) == {200: 3, 429: 7}
    assert codes(streams) == {"TOO_MANY_GENERATIONS"}
    close(streams)


def test_of_ten_parallel_posts_a_limit_of_chats_accepts_what_fits(
    real_server: ServerFactory,
) -> None:
    server = real_server(env=env(SLOW, chats_per_owner=4, generations_per_owner=20))
    visitor = Visitor(server).with_session()
    streams = at_once(10, visitor.ask)
    assert statuses(streams) == {200: 3, 409: 7}
    assert codes(streams) == {"CHAT_LIMIT"}
    close(streams)


def test_a_full_worker_refuses_the_rest(real_server: ServerFactory) -> None:
    server = real_server(env=env(SLOW, generations_per_worker=3, generations_per_owner=20))
    visitor = Visitor(server).with_session()
    streams = at_once(10, visitor.ask)
    assert statuses(streams) == {200: 3, 503: 7}
    assert codes(streams) == {"SERVICE_UNAVAILABLE"}
    close(streams)
    until(lambda: journal(server) == 0, 2, "empty journal")
    with visitor.ask() as stream:
        assert first_text(stream)


def busy_writer(server: Server, stop: threading.Event) -> None:
    """Writes as a sync does: a transaction, some work, the next transaction."""
    database = sqlite3.connect(server.var_dir / "fastrag.sqlite3", timeout=30, isolation_level=None)
    database.execute("create table filler (text)")
    while not stop.is_set():
        database.execute("begin immediate")
        database.executemany("insert into filler values (?)", [("x" * 500,)] * 2_000)
        time.sleep(0.05)
        database.execute("commit")
        time.sleep(0.03)
    database.close()


def test_twenty_parallel_posts_while_a_writer_works_all_succeed(
    real_server: ServerFactory,
) -> None:
    server = real_server(env=env(generations_per_owner=50))
    visitor = Visitor(server).with_session()
    stop = threading.Event()
    writer = threading.Thread(target=busy_writer, args=(server, stop))
    writer.start()
    try:
        streams = at_once(20, lambda: visitor.ask(timeout=40))
        assert statuses(streams) == {200: 20}
        ends = [stream.events()[-1].data["finish_reason"] for stream in streams]
        close(streams)
    finally:
        stop.set()
        writer.join()
    assert ends == ["stop"] * 20
    assert Counter(reason for reason, _ in answers(server))["stop"] >= 20
    assert "locked" not in server.output()
