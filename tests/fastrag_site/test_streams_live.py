"""Event streams on real servers: liveness, departures, shutdown."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.live import Server, ServerFactory, copied, serve, until
from tests.sse_client import Comment, Event, connect

PROBE = "tests.fastrag_site.probe.settings"


@pytest.fixture(scope="module")
def server(migrated_var_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serve(copied(migrated_var_dir, tmp_path_factory), settings=PROBE) as server:
        yield server


def test_the_first_event_arrives_before_the_second_is_made_even_for_gzip_clients(
    server: Server,
) -> None:
    with server.get("/gated", headers={"Accept-Encoding": "gzip, br"}) as stream:
        assert stream.event() == Event("tick", '{"n":1}')
        server.get("/open").read()
        assert stream.event() == Event("tick", '{"n":2}')
        assert stream.event() is None
        assert stream.headers["content-type"] == "text/event-stream; charset=utf-8"
        assert stream.headers["cache-control"] == "no-cache, no-transform"
        assert stream.headers["x-accel-buffering"] == "no"
        assert stream.headers["content-encoding"] == "identity"
