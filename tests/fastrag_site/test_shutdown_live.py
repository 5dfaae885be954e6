"""Leaving with open streams, on every server that we name."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.live import ServerFactory, until
from tests.sse_client import Event

PROBE: dict[str, Any] = {
    "settings": "tests.fastrag_site.probe.settings",
    "env": {"FASTRAG_SHUTDOWN_GRACE_SECONDS": "0.5"},
}
END = Event("end", '{"finish_reason":"interrupted"}')


@pytest.mark.parametrize(
    ("command", "args", "codes"),
    [
        ("uvicorn", (), {0, -15}),
        ("runserver", ("--noreload",), {0, -15}),
        ("gunicorn", ("--workers", "2"), {0}),
    ],
)
def test_on_sigterm_open_streams_end_by_themselves_and_the_server_exits(
    real_server: ServerFactory, command: str, args: tuple[str, ...], codes: set[int]
) -> None:
    server = real_server(command=command, args=args, **PROBE)
    streams = [server.get("/endless?aware=1&interval=60", timeout=60) for _ in range(3)]
    assert all(stream.event() for stream in streams)
    server.process.terminate()
    assert [stream.event() for stream in streams] == [END] * 3
    assert [stream.event() for stream in streams] == [None] * 3
    for stream in streams:
        stream.close()
    assert server.process.wait(5) in codes
    assert "Traceback" not in server.output()


def test_a_stream_that_does_not_listen_is_closed_after_the_grace_time(
    real_server: ServerFactory,
) -> None:
    server = real_server(**PROBE)
    with server.get("/endless?interval=60") as stream:
        assert stream.event() is not None
        server.process.terminate()
        assert stream.event() is None
    server.process.wait(5)
    assert server.output().count("source closed") == 1
    assert "Traceback" not in server.output()


def test_a_client_that_does_not_read_cannot_keep_the_server_from_leaving(
    real_server: ServerFactory,
) -> None:
    server = real_server(**PROBE)
    with server.get("/endless?size=100000&interval=0", receive_buffer=4096):
        began = time.monotonic()
        server.process.terminate()
        server.process.wait(10)
        assert time.monotonic() - began < 4
    assert server.output().count("source closed") == 1


def test_runserver_reloads_on_a_change_while_a_stream_is_open(
    real_server: ServerFactory, tmp_path: Path
) -> None:
    for name in ("fastrag_site", "chats", "retrieval", "templates"):
        (tmp_path / name).mkdir()
    env = {**PROBE["env"], "PROBE_BASE_DIR": str(tmp_path)}
    server = real_server(command="runserver", settings=PROBE["settings"], env=env)
    with server.get("/endless?aware=1&interval=60") as stream:
        assert stream.event() is not None
        first = server.get("/state").json()["pid"]
        (tmp_path / "chats" / "changed.py").write_text("")
        assert stream.event() == END

    def answers() -> bool:
        with suppress(OSError, EOFError):  # the port is free for a moment
            return bool(server.get("/state").json()["pid"] != first)
        return False

    until(answers, 15, "new process")
