"""Every cap under fifty parallel requests to a real server: exactly the cap is accepted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import cycle
from threading import Barrier
from typing import Any

import pytest

from tests.chats.live_parts import SLOW, Visitor, answers, begun, env, journal
from tests.live import Server, ServerFactory, until
from tests.sse_client import Event, Stream
from tests.upstream import answer, upstream

FIFTY = 50
PATIENT = 60.0  # seconds, on a machine that is busy with fifty of everything


@contextmanager
def at_once(count: int, ask: Callable[[], Stream]) -> Iterator[list[Stream]]:
    """So many requests in the same moment; their responses, as far as the headers."""
    gate = Barrier(count)

    def go(_: int) -> Stream:
        gate.wait()
        return ask()

    with ThreadPoolExecutor(count) as pool:
        streams = list(pool.map(go, range(count)))
    try:
        yield streams
    finally:
        for stream in streams:
            stream.close()


def outcomes(streams: list[Stream]) -> Counter[Any]:
    """How many were accepted (200), and how many refused with which status and code."""
    return Counter(
        stream.status if stream.status == 200 else (stream.status, stream.json()["error"]["code"])
        for stream in streams
    )


def test_of_fifty_posts_of_an_owner_the_generations_that_are_allowed_run(
    real_server: ServerFactory,
) -> None:
    server = real_server(env=env(SLOW, generations_per_owner=7))
    visitor = Visitor(server).with_session()
    with at_once(FIFTY, lambda: visitor.ask(timeout=PATIENT)) as streams:
        assert outcomes(streams) == {200: 7, (429, "TOO_MANY_GENERATIONS"): 43}
        assert journal(server) == 7


def test_two_servers_on_one_database_hold_a_cap_together(real_server: ServerFactory) -> None:
    one = real_server(env=env(SLOW, generations_per_owner=7))
    other = real_server(env=env(SLOW, generations_per_owner=7), var_dir=one.var_dir)
    visitor = Visitor(one).with_session()
    visitors = cycle((visitor, Visitor(other, cookie=visitor.cookie)))
    with at_once(FIFTY, lambda: next(visitors).ask(timeout=PATIENT)) as streams:
        assert outcomes(streams) == {200: 7, (429, "TOO_MANY_GENERATIONS"): 43}


def test_of_fifty_new_chats_as_many_begin_as_the_owner_may_have(
    real_server: ServerFactory,
) -> None:
    server = real_server(env=env(SLOW, chats_per_owner=9, generations_per_owner=FIFTY))
    visitor = Visitor(server).with_session()
    with at_once(FIFTY, lambda: visitor.ask(timeout=PATIENT)) as streams:
        assert outcomes(streams) == {200: 8, (409, "CHAT_LIMIT"): 42}
    until(lambda: journal(server) == 0, 10, "empty journal")
    assert server.sql("select count(*) from chats_chat") == [(9,)]


def test_of_fifty_posts_a_worker_takes_as_many_as_it_writes_at_once(
    real_server: ServerFactory,
) -> None:
    server = real_server(env=env(SLOW, generations_per_worker=6, generations_per_owner=FIFTY))
    visitor = Visitor(server).with_session()
    with at_once(FIFTY, lambda: visitor.ask(timeout=PATIENT)) as streams:
        assert outcomes(streams) == {200: 6, (503, "SERVICE_UNAVAILABLE"): 44}


def test_of_fifty_posts_to_one_chat_one_is_answered(real_server: ServerFactory) -> None:
    server = real_server(env=env(SLOW, generations_per_owner=FIFTY))
    visitor = Visitor(server).with_session()
    (chat,) = visitor.get("/api/chats")["results"]
    with at_once(FIFTY, lambda: visitor.ask(chat_id=chat["id"], timeout=PATIENT)) as streams:
        assert outcomes(streams) == {200: 1, (409, "CHAT_BUSY"): 49}


def test_fifty_posts_do_not_fill_a_chat_beyond_its_length(real_server: ServerFactory) -> None:
    """One question is answered at a time, so each round adds an exchange until the chat is full."""
    server = real_server(env=env(chat_max_messages=6, generations_per_owner=FIFTY))
    visitor = Visitor(server).with_session()
    (chat,) = visitor.get("/api/chats")["results"]
    with at_once(FIFTY, lambda: _read(visitor.ask(chat_id=chat["id"], timeout=PATIENT))) as first:
        found = outcomes(first)
    assert 1 <= found[200] <= 2 and set(found) <= {200, (409, "CHAT_BUSY"), (409, "CHAT_FULL")}
    while len(visitor.get(f"/api/chats/{chat['id']}")["messages"]) < 6:
        with visitor.ask(chat_id=chat["id"]) as stream:
            stream.events()
    with at_once(FIFTY, lambda: visitor.ask(chat_id=chat["id"], timeout=PATIENT)) as streams:
        assert outcomes(streams) == {(409, "CHAT_FULL"): FIFTY}
    assert len(visitor.get(f"/api/chats/{chat['id']}")["messages"]) == 6


def test_of_fifty_requests_as_many_are_answered_as_a_minute_allows(
    real_server: ServerFactory,
) -> None:
    server = real_server(env=env(requests_per_minute=20))
    path = "/api/chats"
    with at_once(FIFTY, lambda: server.get(path, timeout=PATIENT)) as streams:
        assert outcomes(streams) == {200: 20, (429, "RATE_LIMITED"): 30}
        for stream in streams:
            assert (stream.status == 200) == ("retry-after" not in stream.headers)


@pytest.mark.parametrize(
    ("body", "refusal"),
    [
        ({"content": "x" * 101}, (400, "VALIDATION_ERROR")),
        ({"content": "x" * 5_000}, (413, "PAYLOAD_TOO_LARGE")),
    ],
)
def test_fifty_that_are_too_long_are_all_refused(
    bounded_server: Server, body: dict[str, str], refusal: tuple[int, str]
) -> None:
    def ask() -> Stream:
        return bounded_server.post("/api/chats", body, timeout=PATIENT)

    with at_once(FIFTY, ask) as streams:
        assert outcomes(streams) == {refusal: FIFTY}
    assert answers(bounded_server) == [] and journal(bounded_server) == 0


@pytest.fixture
def bounded_server(real_server: ServerFactory) -> Server:
    return real_server(env=env(message_max_chars=100, request_max_bytes=1_000))


# Idempotency-Key


def _read(stream: Stream) -> Stream:
    if stream.status == 200:
        stream.events()
    return stream


def test_twenty_clients_with_one_key_get_one_generation_and_one_exchange(
    real_server: ServerFactory,
) -> None:
    with upstream(answer("One ", "two.")) as model:
        conf = {"chat_base_url": model.base_url, "chat_model_name": "m", "model_titles": False}
        server = real_server(env=env(**conf, generations_per_owner=FIFTY))
        visitor = Visitor(server).with_session()
        asked = len(model.requests)
        headers = visitor.cookie | {"Idempotency-Key": "once"}

        def ask() -> Stream:
            body = {"content": "Why only once?"}
            return server.post("/api/chats", body, headers=headers, timeout=PATIENT)

        with at_once(20, ask) as streams:
            accepted = [stream.events() for stream in streams if stream.status == 200]
            refused = [stream.json()["error"] for stream in streams if stream.status != 200]
        assert len(accepted) >= 1
        ids = {events[0].data["message_id"] for events in accepted}
        assert ids == {events[-1].data["message_id"] for events in accepted} and len(ids) == 1
        assert {error["code"] for error in refused} <= {"CHAT_BUSY"}
        assert {error["details"]["message_id"] for error in refused} <= ids
        assert len(model.requests) - asked == 1
        with ask() as again:
            replayed = again.events()
        assert _told(replayed) == _told(accepted[0]) and len(replayed) == 4
        assert len(model.requests) - asked == 1
        rows = server.sql("select role from chats_message where content like 'Why only once?'")
        assert rows == [("user",)] and len(answers(server)) == 2


def _told(events: list[Event]) -> tuple[list[Any], str]:
    """The events without the text, and the text."""
    deltas = [event.data["delta"]["text"] for event in events if event.name == "delta"]
    return [event.data for event in events if event.name != "delta"], "".join(deltas)


def test_a_repeat_while_it_is_answered_names_the_message(slow_server: Server) -> None:
    visitor = Visitor(slow_server)
    with visitor.ask(content="First?") as stream:
        begun(stream)
    headers = visitor.cookie | {"Idempotency-Key": "running"}
    body = {"content": "Why?"}
    with slow_server.post("/api/chats", body, headers=headers) as stream:
        start = begun(stream).data
        with slow_server.post("/api/chats", body, headers=headers) as again:
            error = again.json()["error"]
        assert (again.status, error["code"]) == (409, "CHAT_BUSY")
        assert error["details"] == {
            "chat_id": start["chat_id"],
            "message_id": start["message_id"],
        }
        with slow_server.post("/api/chats", {"content": "How?"}, headers=headers) as other:
            assert (other.status, other.json()["error"]["code"]) == (409, "IDEMPOTENCY_CONFLICT")
