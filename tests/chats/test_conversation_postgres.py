"""Stop, caps and Idempotency-Key on PostgreSQL, with two servers on one database."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.chats.live_parts import Visitor, env
from tests.chats.test_caps_live import FIFTY, PATIENT, at_once, outcomes
from tests.chats.test_live_postgres import POOL, journal, postgres, rows
from tests.chats.test_stops_live import TALKS_ON, WITHIN_SECONDS, stop_and_measure
from tests.live import Server, serve, until
from tests.sse_client import Stream
from tests.upstream import Upstream, answer, upstream

__all__ = ["postgres"]


@pytest.fixture(scope="module")
def model() -> Iterator[Upstream]:
    with upstream(TALKS_ON) as server:
        yield server


@pytest.fixture(scope="module")
def servers(
    postgres: str, model: Upstream, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Server, Server]]:
    def options(name: str) -> tuple[Path, dict[str, str]]:
        conf = {"chat_base_url": model.base_url, "chat_model_name": "m", "heartbeat_seconds": 60.0}
        database = {"DATABASE_URL": postgres, "DATABASE_POOL": str(POOL)}
        return tmp_path_factory.mktemp(name), env(**conf, generations_per_owner=7) | database

    (one, one_env), (other, other_env) = options("one"), options("other")
    with serve(one, env=one_env) as first, serve(other, env=other_env) as second:
        yield first, second


def test_a_stop_from_another_process_ends_within_a_second(
    servers: tuple[Server, Server], postgres: str, model: Upstream
) -> None:
    writing, other = Visitor(servers[0]), Visitor(servers[1])
    other.get("/api/chats")
    for _ in range(5):
        assert max(stop_and_measure(writing, other, model)) < WITHIN_SECONDS
    assert journal(postgres) == 0


def test_two_servers_hold_a_cap_together(servers: tuple[Server, Server], postgres: str) -> None:
    first = Visitor(servers[0])
    first.ask().close()
    until(lambda: journal(postgres) == 0, 5, "empty journal")
    both = [first, Visitor(servers[1], cookie=first.cookie)] * (FIFTY // 2)
    with at_once(FIFTY, lambda: both.pop().ask(timeout=PATIENT)) as streams:
        assert outcomes(streams) == {200: 7, (429, "TOO_MANY_GENERATIONS"): 43}
    until(lambda: journal(postgres) == 0, 5, "empty journal")


def test_one_key_at_two_servers_is_one_exchange(
    servers: tuple[Server, Server], postgres: str, model: Upstream
) -> None:
    first = Visitor(servers[0])
    first.ask().close()
    until(lambda: journal(postgres) == 0, 5, "empty journal")
    headers = first.cookie | {"Idempotency-Key": "once"}
    both = [*servers] * 10
    scripts, model.scripts = model.scripts, [answer("One ", "two.")]

    def ask() -> Stream:
        body = {"content": "Why only once?"}
        return both.pop().post("/api/chats", body, headers=headers, timeout=PATIENT)

    try:
        with at_once(20, ask) as streams:
            found = [stream.events() if stream.status == 200 else [] for stream in streams]
            codes = {stream.json()["error"]["code"] for stream in streams if stream.status != 200}
    finally:
        model.scripts = scripts
    assert len({events[0].data["message_id"] for events in found if events}) == 1
    assert codes <= {"CHAT_BUSY"}
    query = "select count(*) from chats_message where content = 'Why only once?'"
    assert rows(postgres, query) == [(1,)]
