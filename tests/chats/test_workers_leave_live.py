"""Workers of a gunicorn that leave while answers are open: on SIGTERM, SIGHUP, max_requests."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from tests.chats.live_parts import HEAVY, SLOW, Visitor, answers, begun, env, first_text, journal
from tests.live import Server, ServerFactory, until
from tests.sse_client import Stream

GRACE = 2.0
OPEN = 6
BOOT_SECONDS = 60  # of a worker, on a busy machine
WITHIN = GRACE + 5  # what gunicorn.conf.py makes of it


def gunicorn(real_server: ServerFactory, *args: str, model: Any = SLOW, **conf: Any) -> Server:
    values = {"shutdown_grace_seconds": GRACE, "generations_per_owner": 50, **conf}
    return real_server(command="gunicorn", args=args, env=env(model, **values))


def workers(server: Server) -> set[int]:
    pid = server.process.pid
    return set(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def open_streams(server: Server, count: int = OPEN) -> list[Stream]:
    streams = [Visitor(server).ask(timeout=BOOT_SECONDS) for _ in range(count)]
    for stream in streams:
        begun(stream)
        first_text(stream)
    return streams


def assert_all_interrupted_and_stored(server: Server, streams: list[Stream]) -> None:
    for stream in streams:
        with stream:
            end = stream.events()[-1]
            assert (end.name, end.data["finish_reason"]) == ("message_end", "interrupted")
    assert [reason for reason, _ in answers(server)] == ["interrupted"] * len(streams)
    assert journal(server) == 0


def assert_quiet(server: Server) -> None:
    for word in ("Traceback", "SIGABRT", "WORKER TIMEOUT", "SIGKILL"):
        assert word not in server.output()


def test_on_sigterm_answers_end_and_the_server_is_gone_in_time(real_server: ServerFactory) -> None:
    server = gunicorn(real_server, "--workers", "2")
    streams = open_streams(server)
    began = time.monotonic()
    server.process.terminate()
    assert_all_interrupted_and_stored(server, streams)
    assert server.process.wait(WITHIN) == 0
    assert time.monotonic() - began < WITHIN
    assert_quiet(server)


def test_on_sighup_new_workers_take_over_and_old_answers_end(real_server: ServerFactory) -> None:
    server = gunicorn(real_server, "--workers", "2")
    streams = open_streams(server)
    before = workers(server)
    os.kill(server.process.pid, signal.SIGHUP)
    assert_all_interrupted_and_stored(server, streams)
    until(lambda: not any(map(alive, before)), WITHIN, "end of the old workers")
    with Visitor(server).ask(timeout=BOOT_SECONDS) as stream:
        assert first_text(stream)
    assert not workers(server) & before
    assert_quiet(server)


@pytest.mark.parametrize("left", ["ends", "does not read"])
def test_a_worker_that_has_taken_its_requests_ends_like_one_that_is_told_to(
    real_server: ServerFactory, left: str
) -> None:
    reads = left == "ends"
    args = ("--workers", "1", "--max-requests", "2")
    server = gunicorn(real_server, *args, model=SLOW if reads else HEAVY)
    options = {"timeout": BOOT_SECONDS} | ({} if reads else {"receive_buffer": 4_096})
    streams = [Visitor(server).ask(**options) for _ in range(OPEN)]
    before = workers(server)
    for _ in range(2):  # a request counts when it has been answered
        server.get("/healthz").read()
    if reads:
        assert_all_interrupted_and_stored(server, streams)
    until(lambda: not any(map(alive, before)), WITHIN, "end of the worker")
    assert [reason for reason, _ in answers(server)] == ["interrupted"] * OPEN
    assert journal(server) == 0
    until(lambda: workers(server), BOOT_SECONDS, "next worker")
    for stream in streams:
        stream.close()
    assert_quiet(server)
