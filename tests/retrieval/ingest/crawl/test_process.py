"""The child process: it never outlives, blocks or pollutes its parent."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from django.test import override_settings

from retrieval.ingest.base import CrawlEnd, CrawlRequest, Fetched
from retrieval.ingest.crawl import crawl, pipe
from tests.retrieval.ingest.crawl.conftest import (
    QUICK,
    Handler,
    Page,
    Server,
    alive,
    children,
    crawled,
    linking,
    serving,
)

ROOT = Path(__file__).resolve().parents[4]


def hanging(handler: Handler) -> None:
    handler.server.released.wait(30)


def request(server: Server) -> CrawlRequest:
    return CrawlRequest(
        kind="site", location=server.url(), depth=9, max_pages=999, trusted_host="127.0.0.1"
    )


def end_after(server: Server, act: Callable[[int], None]) -> CrawlEnd:
    """The end of a crawl whose child is treated with `act(pid)` after the first page."""
    before = set(children())
    with override_settings(FASTRAG=QUICK), closing(crawl(request(server))) as items:
        assert isinstance(next(items), Fetched)
        (pid,) = set(children()) - before
        act(pid)
        *_, end = items
    assert isinstance(end, CrawlEnd)
    assert not alive(pid)
    return end


def test_closing_the_crawl_kills_the_child_at_once() -> None:
    before = set(children())
    with serving({"/": linking("a"), "/a": hanging}) as server:
        items = crawl(request(server))
        next(items)
        (pid,) = set(children()) - before
        items.close()
        assert not alive(pid)


def test_a_child_that_dies_ends_the_crawl_with_a_failure() -> None:
    with serving({"/": linking("a"), "/a": hanging}) as server:
        end = end_after(server, lambda pid: os.kill(pid, signal.SIGKILL))
    assert end == CrawlEnd(complete=False, failure="the crawler ended early (signal 9)")


def test_a_child_that_falls_silent_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    def silence(pid: int) -> None:
        monkeypatch.setattr(pipe, "SILENCE_SECONDS", 0.3)
        os.kill(pid, signal.SIGSTOP)

    with serving({"/": linking("a"), "/a": hanging}) as server:
        end = end_after(server, silence)
    assert end == CrawlEnd(complete=False, failure="the crawler stopped responding")


def test_a_crawl_that_takes_too_long_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    code = (
        "import sys, time\n"
        "from retrieval.ingest.crawl.wire import encode\n"
        "while True:\n"
        "    sys.stdout.buffer.write(encode('alive', {})); sys.stdout.flush(); time.sleep(0.01)\n"
    )
    monkeypatch.setattr(pipe, "COMMAND", (sys.executable, "-c", code))
    end = crawled("http://127.0.0.1:9/", CRAWL_SECONDS=0.5).end
    assert end == CrawlEnd(complete=False, failure="the crawl took longer than 0.5 seconds")


def test_a_child_that_cannot_start_is_a_failure_with_its_last_words_in_the_log(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    code = "import sys; sys.exit('no such module')"
    monkeypatch.setattr(pipe, "COMMAND", (sys.executable, "-c", code))
    end = crawled("http://127.0.0.1:9/").end
    assert end.failure == "the crawler ended early (exit status 1)"
    assert "no such module" in caplog.text


def test_a_child_that_writes_something_else_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipe, "COMMAND", (sys.executable, "-c", "print('x' * 99)"))
    assert crawled("http://127.0.0.1:9/").end.failure is not None


def test_the_child_ends_when_its_parent_is_killed() -> None:
    program = (
        "import os, sys, django; django.setup()\n"
        "from retrieval.ingest.base import CrawlRequest\n"
        "from retrieval.ingest.crawl import crawl\n"
        "from tests.retrieval.ingest.crawl.conftest import children\n"
        "items = crawl(CrawlRequest(kind='site', location=sys.argv[1], depth=9, max_pages=9,\n"
        "                           trusted_host='127.0.0.1'))\n"
        "next(items)\n"
        "print(*children(), flush=True)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "fastrag_site.settings"}
    with serving({"/": linking("a"), "/a": hanging}) as server:
        command = [sys.executable, "-c", program, server.url()]
        parent = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, timeout=60, check=False
        )
        pid = int(parent.stdout)
        try:
            descriptor = os.pidfd_open(pid)
        except ProcessLookupError:
            return  # gone already
        ended, _, _ = select.select([descriptor], [], [], 20)
        os.close(descriptor)
    assert ended


def test_a_slow_reader_slows_the_crawl() -> None:
    pages = {f"/{number}": Page(bytes(500_000)) for number in range(200)}
    with serving({"/": linking(*pages), **pages}) as server:
        with override_settings(FASTRAG=QUICK), closing(crawl(request(server))) as items:
            next(items)
            counts = [-1]
            while counts[-1] != len(server.asked):  # until it asks for no more
                counts.append(len(server.asked))
                server.released.wait(0.4)
        assert len(server.asked) < 30


def test_crawls_run_in_threads_side_by_side_and_print_nothing(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with (
        serving({"/": linking("a"), "/a": linking()}) as server,
        override_settings(FASTRAG=QUICK),
        ThreadPoolExecutor(2) as pool,
    ):
        found = list(pool.map(list, [crawl(request(server)), crawl(request(server))]))
    assert [len(items) for items in found] == [3, 3]
    assert capfd.readouterr() == ("", "")


def test_the_child_loads_no_django() -> None:
    code = "import sys, retrieval.ingest.crawl.child; assert 'django' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, timeout=60)
