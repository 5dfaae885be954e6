"""Stopping on real servers, measured at a real model connection (CASES.md, Chat state)."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

from tests.chats.live_parts import (
    SLOW,
    SLOW_SEARCH,
    Visitor,
    answers,
    begun,
    env,
    first_text,
    journal,
)
from tests.live import Server, ServerFactory, until
from tests.sse_client import Event, Stream
from tests.upstream import HEAD, Forever, Upstream, chunk, token, upstream

WITHIN_SECONDS = 1.0
TIMES = 20
TALKS_ON = [HEAD, chunk({"role": "assistant", "content": ""}), Forever(token("on "), every=0.05)]


def env_of(model: Upstream, **conf: object) -> dict[str, str]:
    return env(chat_base_url=model.base_url, chat_model_name="m", **conf)


def stop(visitor: Visitor, chat_id: str) -> Stream:
    return visitor.server.post(f"/api/chats/{chat_id}/stop", headers=visitor.cookie)


def status_of_stop(visitor: Visitor, chat_id: str) -> int:
    with stop(visitor, chat_id) as response:
        return response.status


def end_of(stream: Stream) -> tuple[Event, float]:
    """The last event, and when it came."""
    last = None
    while (event := stream.event()) is not None:
        last, at = event, time.monotonic()
    assert last is not None
    return last, at


def stop_and_measure(asking: Visitor, stopping: Visitor, model: Upstream) -> tuple[float, float]:
    """Seconds from the request to stop to the close at the model's socket, and to message_end."""
    closed_before = len(model.closed_at)
    with asking.ask() as stream:
        start = begun(stream)
        chat_id = start.data["chat_id"]
        first_text(stream)
        stopping.cookie = asking.cookie
        asked_at = time.monotonic()
        with stop(stopping, chat_id) as stopped:
            assert stopped.status == 202
            assert stopped.json() == {"message_id": start.data["message_id"]}
        end, ended_at = end_of(stream)
    assert (end.name, end.data["finish_reason"]) == ("message_end", "interrupted")
    closed_after = model.closed_after(asked_at, times=closed_before + 1)
    return closed_after, ended_at - asked_at


def test_twenty_of_twenty_stops_from_another_process_end_within_a_second(
    real_server: ServerFactory,
) -> None:
    with upstream(TALKS_ON) as model:
        writing = real_server(env=env_of(model, heartbeat_seconds=60.0))
        other = real_server(env=env_of(model), var_dir=writing.var_dir)
        asking, stopping = Visitor(writing), Visitor(other)
        stopping.get("/api/chats")
        times = [stop_and_measure(asking, stopping, model) for _ in range(TIMES)]
        slowest = max(max(pair) for pair in times)
        assert slowest < WITHIN_SECONDS, times
        assert [reason for reason, _ in answers(writing)] == ["interrupted"] * TIMES
        assert all(content.startswith("on ") for _, content in answers(writing))
        assert len(model.closed_at) == TIMES and journal(writing) == 0


def test_a_stop_in_the_same_process_is_immediate(real_server: ServerFactory) -> None:
    with upstream(TALKS_ON) as model:
        server = real_server(env=env_of(model, stop_poll_seconds=30.0, heartbeat_seconds=60.0))
        times = [stop_and_measure(Visitor(server), Visitor(server), model) for _ in range(3)]
    assert max(max(pair) for pair in times) < WITHIN_SECONDS, times


def test_either_of_two_workers_of_one_server_stops_what_the_other_writes(
    real_server: ServerFactory,
) -> None:
    """Each request is a connection of its own, which either worker may take."""
    with upstream(TALKS_ON) as model:
        server = real_server(args=("--workers", "2"), env=env_of(model, generations_per_owner=10))
        visitor = Visitor(server)
        for _ in range(6):
            closed, ended = stop_and_measure(visitor, Visitor(server), model)
            assert max(closed, ended) < WITHIN_SECONDS


def test_a_stop_before_the_first_token_closes_the_model_as_well(
    real_server: ServerFactory,
) -> None:
    with upstream([Forever(b"", every=0.05)]) as model:
        server = real_server(env=env_of(model))
        visitor = Visitor(server)
        with visitor.ask() as stream:
            chat_id = begun(stream).data["chat_id"]
            stream.event()
            model.wait_for_requests()
            asked_at = time.monotonic()
            with stop(visitor, chat_id) as stopped:
                assert stopped.status == 202
            end, ended_at = end_of(stream)
        assert end.data["finish_reason"] == "interrupted"
        assert model.closed_after(asked_at) < WITHIN_SECONDS > ended_at - asked_at
        assert answers(server) == [("interrupted", "")]


def test_a_stop_during_the_search_does_not_wait_for_it(real_server: ServerFactory) -> None:
    server = real_server(env=env(SLOW, embedder=SLOW_SEARCH))
    visitor = Visitor(server)
    with visitor.ask() as stream:
        chat_id = begun(stream).data["chat_id"]
        asked_at = time.monotonic()
        stop(visitor, chat_id).close()
        end, ended_at = end_of(stream)
    assert end.data["finish_reason"] == "interrupted"
    assert ended_at - asked_at < WITHIN_SECONDS
    assert answers(server) == [("interrupted", "")]


def test_after_a_stop_nothing_runs_and_the_chat_goes_on(slow_server: Server) -> None:
    visitor = Visitor(slow_server)
    with visitor.ask() as stream:
        chat_id = begun(stream).data["chat_id"]
        first_text(stream)
        stop(visitor, chat_id).close()
        end, _ = end_of(stream)
    assert end.data["finish_reason"] == "interrupted"
    with stop(visitor, chat_id) as again:
        assert (again.status, again.json()["error"]["code"]) == (409, "NOT_RUNNING")
    with visitor.ask(chat_id=chat_id) as stream:
        assert first_text(stream)


def test_of_many_running_answers_only_the_stopped_ones_end(slow_server: Server) -> None:
    visitor = Visitor(slow_server).with_session()
    streams = [visitor.ask() for _ in range(6)]
    ids = [begun(stream).data["chat_id"] for stream in streams]
    for chat_id in ids[::2]:
        stop(visitor, chat_id).close()
    for stream in streams[::2]:
        with stream:
            assert end_of(stream)[0].data["finish_reason"] == "interrupted"
    for stream in streams[1::2]:
        with stream:
            assert first_text(stream)


def test_ten_who_stop_at_once_stop_it_once(slow_server: Server) -> None:
    visitor = Visitor(slow_server)
    with visitor.ask() as stream:
        start = begun(stream)
        chat_id = start.data["chat_id"]
        first_text(stream)
        with ThreadPoolExecutor(10) as pool:
            statuses = set(pool.map(lambda _: status_of_stop(visitor, chat_id), range(10)))
        assert 202 in statuses <= {202, 409}
        events = stream.events()
    assert sum(event.name == "message_end" for event in events) == 1
    until(lambda: answers(slow_server, chat_id), 1, "answer stored")
    assert len(answers(slow_server, chat_id)) == 1
