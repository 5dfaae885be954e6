"""What open answers cost a real server: neither a thread nor a connection each."""

from __future__ import annotations

from pathlib import Path

from tests.chats.live_parts import SILENT, Visitor, begun, env, open_databases
from tests.live import Server, ServerFactory

OPEN = 60


def threads(server: Server) -> int:
    return len(list(Path(f"/proc/{server.process.pid}/task").iterdir()))


def test_open_answers_take_no_thread_and_no_connection_each(real_server: ServerFactory) -> None:
    server = real_server(env=env(SILENT, generations_per_worker=OPEN))
    streams = [Visitor(server).ask() for _ in range(OPEN)]
    for stream in streams:
        begun(stream)
        assert stream.event() is not None  # the search is over
    assert threads(server) < OPEN
    assert open_databases(server) == 0
    for stream in streams:
        stream.close()
