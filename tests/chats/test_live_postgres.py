"""The rules that rest on the database, on PostgreSQL: caps, the busy rule, connections."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from tests.chats.live_parts import SLOW, Visitor, begun, env, first_text
from tests.chats.test_live_caps import at_once, close, codes, statuses
from tests.live import Server, serve, until
from tests.postgres import migrate, postgres_database

POOL = 3


@pytest.fixture(scope="module")
def postgres(postgres_url: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The URL of a migrated database of this module's own."""
    url = postgres_database(postgres_url, f"live_{time.monotonic_ns()}")
    migrate(url, tmp_path_factory.mktemp("migrating"))
    return url


def rows(url: str, query: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(url) as connection:
        return connection.execute(query).fetchall()  # type: ignore[arg-type]


def journal(url: str) -> int:
    return int(rows(url, "select count(*) from chats_generation")[0][0])


@pytest.fixture(scope="module")
def server(postgres: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    database = {"DATABASE_URL": postgres, "DATABASE_POOL": str(POOL)}
    with serve(
        tmp_path_factory.mktemp("var"), env=env(SLOW, generations_per_owner=10) | database
    ) as server:
        yield server


@pytest.fixture(autouse=True)
def all_settled(postgres: str) -> Iterator[None]:
    yield
    until(lambda: journal(postgres) == 0, 5, "empty journal")


def known(server: Server) -> Visitor:
    """A visitor whose session is there already."""
    visitor = Visitor(server)
    with visitor.ask() as stream:
        begun(stream)
    return visitor


def test_two_posts_to_one_chat_are_one_answer_and_one_409(server: Server, postgres: str) -> None:
    visitor = Visitor(server)
    with visitor.ask() as stream:
        chat_id = begun(stream).data["chat_id"]
    for _ in range(5):
        until(lambda: journal(postgres) == 0, 5, "empty journal")
        streams = at_once(2, lambda: visitor.ask(chat_id=chat_id))
        assert statuses(streams) == {200: 1, 409: 1}
        assert codes(streams) == {"CHAT_BUSY"}
        close(streams)
    until(lambda: journal(postgres) == 0, 5, "empty journal")
    messages = visitor.get(f"/api/chats/{chat_id}")["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant"] * 6


def test_a_cap_is_exact_under_parallel_posts(server: Server, postgres: str) -> None:
    visitor = known(server)
    until(lambda: journal(postgres) == 0, 5, "empty journal")
    streams = at_once(20, visitor.ask)
    assert statuses(streams) == {200: 10, 429: 10}
    close(streams)


def test_open_streams_hold_no_connection(server: Server, postgres: str) -> None:
    visitors = [Visitor(server) for _ in range(5 * POOL)]
    streams = [visitor.ask() for visitor in visitors]
    for stream in streams:
        first_text(stream)
    with server.get("/readyz") as ready:
        assert ready.status == 200
    close(streams)


def test_an_answer_is_stored_and_read_with_any_text(server: Server, postgres: str) -> None:
    visitor = Visitor(server)
    with visitor.ask("Wer war Ærøskøbing? 用户 😀") as stream:
        chat_id = begun(stream).data["chat_id"]
        first_text(stream)
    until(lambda: journal(postgres) == 0, 5, "empty journal")
    question, answer = visitor.get(f"/api/chats/{chat_id}")["messages"]
    assert question["content"] == "Wer war Ærøskøbing? 用户 😀"
    assert answer["finish_reason"] == "interrupted"
    assert visitor.get("/api/chats?search=%C3%A6R%C3%98sk%C3%B8bing")["results"][0]["id"] == chat_id
