"""Ten minutes of questions, on gunicorn with two workers and PostgreSQL: does anything grow?

    python benchmarks/soak.py [--minutes 10] [--streams 40] [--check]

So many answers are open at any time; when one ends, the next is asked for, and one client of five
leaves in mid-answer. Twenty times a line tells memory, threads, files, asyncio tasks and
connections. The last quarter is compared with the second: memory may grow by a tenth, threads,
files and tasks by a fifth, and connections stay within the pools. `--check` fails beyond.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

import psycopg

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.load import CONNECTIONS, WORKERS, Connections, postgres, site  # noqa: E402
from benchmarks.open_streams import OpenStreams  # noqa: E402
from benchmarks.servers import Running  # noqa: E402

TOKENS = 100  # of an answer, which takes five seconds
LEAVING = 0.2  # share of the clients
SAMPLES = 20
GROWTH = {"memory": 0.1, "threads": 0.2, "files": 0.2, "tasks": 0.2}


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    minutes: float
    answers: int
    memory: int
    threads: int
    files: int
    tasks: int
    connections: int

    def __str__(self) -> str:
        return (
            f"{self.minutes:5.1f} min {self.answers:7,} asked {self.memory / 1e6:7.1f} MB "
            f"{self.threads:4} threads {self.files:4} files {self.tasks:4} tasks "
            f"{self.connections:3} connections at most"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--streams", type=int, default=40)
    parser.add_argument("--check", action="store_true", help="fail where something grows")
    options = parser.parse_args()
    app = "benchmarks.soak_app:application"
    with postgres() as url, site(url, TOKENS, options.streams, app) as server:
        clients = OpenStreams(server.port, gap_seconds=0.0)
        samples = _soak(server, url, clients, options.minutes * 60, options.streams)
        left = _journal(url)
        traced = server.log.read_text().count("Traceback")
    print(f"{len(clients.errors)} errors, {left} left in the journal, {traced} tracebacks")
    missed = _grown(samples)
    if clients.errors or left or traced:
        missed.append(f"something failed: {clients.errors[:3]}")
    print("missed:" if missed else "nothing grows", *missed, sep="\n  ")
    raise SystemExit(bool(missed) and options.check)


def _soak(
    server: Running, url: str, clients: OpenStreams, seconds: float, streams: int
) -> list[Sample]:
    dice, samples = random.Random(7), []
    began = time.monotonic()
    asked = 0
    for number in range(SAMPLES):
        watch = Connections(url)
        until = began + seconds * (number + 1) / SAMPLES
        while time.monotonic() < until:
            for _ in range(streams - clients.open_now()):
                clients.ask()
                asked += 1
            clients.read(seconds=0.1)
            if dice.random() < LEAVING * 0.1 * streams / (TOKENS / 20):
                clients.leave_one(dice)
        samples.append(
            Sample(
                minutes=(time.monotonic() - began) / 60,
                answers=asked,
                memory=server.memory(),
                threads=server.threads(),
                files=server.files(),
                tasks=_tasks(server.port),
                connections=watch.stop(),
            )
        )
        print(samples[-1], flush=True)
    clients.read(seconds=60)
    time.sleep(2.0)  # for the answers that were left
    return samples


def _tasks(port: int) -> int:
    """Of both workers; which of them takes a connection is up to the system."""
    found: dict[int, int] = {}
    for _ in range(100):
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/_tasks", timeout=60) as answer:
            told = json.load(answer)
        found[told["pid"]] = told["tasks"]
        if len(found) == WORKERS:
            break
    return sum(found.values())


def _grown(samples: list[Sample]) -> list[str]:
    quarter = len(samples) // 4
    before, after = samples[quarter : 2 * quarter], samples[-quarter:]
    missed = []
    for name, share in GROWTH.items():
        first = mean(getattr(sample, name) for sample in before)
        last = mean(getattr(sample, name) for sample in after)
        print(f"{name}: {first:,.0f} in the second quarter, {last:,.0f} in the last")
        if last > first * (1 + share):
            missed.append(f"{name} grew by more than {share:.0%}")
    if max(sample.connections for sample in samples) > CONNECTIONS:
        missed.append(f"more than {CONNECTIONS} connections")
    return missed


def _journal(url: str) -> int:
    with psycopg.connect(url) as connection:
        row = connection.execute("SELECT count(*) FROM chats_generation").fetchone()
    return int(row[0]) if row else 0


if __name__ == "__main__":
    main()
