"""Event streams on a real uvicorn: liveness, silences, departures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.live import Server, copied, serve, until
from tests.sse_client import Comment, Event, Stream

PROBE = "tests.fastrag_site.probe.settings"


@pytest.fixture(scope="module")
def server(migrated_var_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serve(copied(migrated_var_dir, tmp_path_factory), settings=PROBE) as server:
        yield server


def state(server: Server) -> dict[str, Any]:
    found: dict[str, Any] = server.get("/state").json()
    return found


def closed(server: Server) -> int:
    return server.output().count("source closed")


def block(server: Server, stream: Stream) -> None:
    """Return when the server can send no more to a client that does not read."""
    made = -1
    while made != (made := state(server)["made"]):
        pass


def test_the_first_event_arrives_before_the_second_is_made_even_for_gzip_clients(
    server: Server,
) -> None:
    with server.get("/gated", headers={"Accept-Encoding": "gzip, br"}) as stream:
        assert stream.event() == Event("tick", '{"n":1}')
        server.get("/open").read()
        assert stream.event() == Event("tick", '{"n":2}')
        assert stream.event() is None


def test_a_stream_says_that_it_must_not_be_cached_buffered_or_compressed(server: Server) -> None:
    with server.get("/gated", headers={"Accept-Encoding": "gzip, br"}) as stream:
        assert stream.status == 200
        assert stream.headers["content-type"] == "text/event-stream; charset=utf-8"
        assert stream.headers["cache-control"] == "no-cache, no-transform"
        assert stream.headers["x-accel-buffering"] == "no"
        assert stream.headers["content-encoding"] == "identity"


def test_three_silent_keep_alive_intervals_lose_no_event(server: Server) -> None:
    with server.get("/silent") as stream:
        seen = list(iter(stream.next, None))
    assert [item for item in seen if isinstance(item, Event)] == [
        Event("tick", f'{{"n":{n}}}') for n in range(3)
    ]
    before_first = seen[: seen.index(Event("tick", '{"n":0}'))]
    assert before_first == [Comment("keep-alive")] * 3


@pytest.mark.parametrize("leave", [Stream.close, Stream.reset])
def test_a_client_that_leaves_between_events_closes_the_source_within_a_second(
    server: Server, leave: Any
) -> None:
    before = closed(server)
    stream = server.get("/endless?interval=60")
    assert stream.event() is not None
    leave(stream)
    until(lambda: closed(server) == before + 1, 1.0, "closed source")


@pytest.mark.parametrize("leave", [Stream.close, Stream.reset])
def test_a_client_that_leaves_while_sending_is_blocked_closes_the_source_within_a_second(
    server: Server, leave: Any
) -> None:
    before = closed(server)
    stream = server.get("/endless?size=100000&interval=0", receive_buffer=4096)
    block(server, stream)
    assert closed(server) == before
    leave(stream)
    until(lambda: closed(server) == before + 1, 1.0, "closed source")


def test_a_client_that_leaves_while_the_view_runs_has_its_source_started_and_closed(
    server: Server,
) -> None:
    started, before = server.output().count("source started"), closed(server)
    sock = server.send("/slow")
    server.wait_for_output("view started")
    sock.close()
    until(lambda: closed(server) == before + 1, 2.0, "closed source")
    assert server.output().count("source started") == started + 1


def test_an_open_stream_holds_no_database_connection(server: Server) -> None:
    streams = [server.get("/endless?interval=60") for _ in range(20)]
    try:
        assert [stream.event() is not None for stream in streams] == [True] * 20
        assert state(server)["database_files"] == 0
    finally:
        for stream in streams:
            stream.close()


def test_threads_that_used_the_database_let_its_connections_go(server: Server) -> None:
    assert server.get("/threads").json() == {"calls": 50, "items": 4}
    assert state(server)["database_files"] == 0


def test_a_hundred_aborted_streams_leave_nothing_behind(server: Server) -> None:
    until(lambda: state(server)["tasks"] < 12, 5, "quiet server")
    before, ended = state(server), closed(server)
    streams = [server.get("/endless") for _ in range(100)]
    for stream in streams:
        assert stream.event() is not None
        stream.reset()
    until(lambda: closed(server) == ended + 100, 5.0, "hundred closed sources")
    until(lambda: state(server)["tasks"] <= before["tasks"], 5.0, "base line of tasks")
    until(lambda: state(server)["threads"] <= before["threads"] + 1, 5.0, "base line of threads")
    assert state(server)["database_files"] == before["database_files"]
    assert closed(server) == ended + 100
