"""PostgreSQL goes away under open answers, and comes back: nothing is lost or stored twice."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.chats.live_parts import Visitor, begun, env, first_text
from tests.chats.test_live_postgres import journal, rows
from tests.live import Server, serve, until
from tests.postgres import migrate, postgres_server

# Seconds. The fault is meant to last ten: FASTRAG_OUTAGE_SECONDS=10 makes it so.
OUTAGE = float(os.environ.get("FASTRAG_OUTAGE_SECONDS", "3"))
OPEN = 20
PATIENCE = 60.0
# Some answers end while the database is away, and some after it is back.
PACED = {"BACKEND": "benchmarks.models.PacedModel", "OPTIONS": {"tokens": 60, "rate": 20.0}}
ENDLESS = {"BACKEND": "tests.chats.parts.EndlessModel", "OPTIONS": {"delay": 0.05}}


class Database:
    """A PostgreSQL that can be stopped, and started again at the same place."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._running = ExitStack()
        self.url = ""
        self.start()

    def start(self) -> None:
        self.url = self._running.enter_context(postgres_server(self._folder, keep=True))

    def stop(self) -> None:
        self._running.close()


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    # Not below pytest's folder, which is closed to other users whenever a session starts.
    with tempfile.TemporaryDirectory(prefix="pg-") as folder:
        database = Database(Path(folder) / "data")
        try:
            migrate(database.url, tmp_path)
            yield database
        finally:
            database.stop()


def refusal(server: Server, ask: bool) -> None:
    """A request while the database is away."""
    send: Any = server.post if ask else server.get
    options = {"body": {"content": "Why?"}} if ask else {}
    with send("/api/chats", timeout=PATIENCE, **options) as refused:
        assert refused.status == 503
        assert refused.json()["error"]["code"] == "SERVICE_UNAVAILABLE"
        assert int(refused.headers["retry-after"]) >= 1


@pytest.mark.timeout(300)
@pytest.mark.parametrize("model", [PACED, ENDLESS], ids=["ends meanwhile", "goes on"])
def test_answers_open_while_the_database_was_away_are_stored_exactly_once(
    database: Database, tmp_path: Path, model: Any
) -> None:
    values = env(model, heartbeat_seconds=1.0, heartbeat_grace=60.0, generation_seconds=PATIENCE)
    values |= {"DATABASE_URL": database.url, "DATABASE_POOL": "5"}
    var_dir = tmp_path / "var"
    var_dir.mkdir()
    with serve(var_dir, env=values) as server:
        streams = [Visitor(server).ask(timeout=PATIENCE) for _ in range(OPEN)]
        ids = [begun(stream).data["message_id"] for stream in streams]
        assert all(first_text(stream) for stream in streams)
        database.stop()
        stopped = time.monotonic()
        refusal(server, ask=True)
        refusal(server, ask=False)
        time.sleep(max(0.0, stopped + OUTAGE - time.monotonic()))  # the length of the fault
        database.start()
        if model is PACED:
            ends = [stream.events()[-1].data["finish_reason"] for stream in streams]
            assert ends == ["stop"] * OPEN
        else:
            assert all(first_text(stream) for stream in streams)
        for stream in streams:
            stream.close()
        until(lambda: journal(database.url) == 0, PATIENCE, "empty journal")
        with Visitor(server).ask(timeout=PATIENCE) as stream:
            ids.append(begun(stream).data["message_id"])
        until(lambda: journal(database.url) == 0, PATIENCE, "empty journal")
        found = rows(database.url, "select id::text from chats_message where role = 'assistant'")
        assert sorted(row[0] for row in found) == sorted(ids)
        questions = "select count(*), count(distinct chat_id) from chats_message where role='user'"
        assert rows(database.url, questions) == [(OPEN + 1, OPEN + 1)]
        assert server.process.poll() is None
