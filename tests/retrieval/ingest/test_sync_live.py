"""Syncs of a real site on loopback, with the real crawler, parser and indexes."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings

from retrieval.ingest import sync
from retrieval.ingest.summary import Summary
from retrieval.models import Page
from tests.live import ROOT, ServerFactory, copied, environment, until
from tests.retrieval.ingest.crawl.conftest import Handler, Routes, alive, serving
from tests.retrieval.ingest.crawl.conftest import Page as Answer
from tests.retrieval.ingest.pdf_files import pdf, scanned_pdf
from tests.retrieval.ingest.sync_support import html

PDF = "application/pdf"


def conditional(body: str, etag: str) -> Any:
    """Answers 304 to who knows the etag."""

    def route(handler: Handler) -> None:
        known = handler.headers.get("If-None-Match") == etag
        handler.answer(Answer(body, status=304 if known else 200, headers={"ETag": etag}))

    return route


def prose(number: int) -> str:
    return " ".join(f"Sentence {n} of page {number} is about apples." for n in range(60))


def site(pages: int) -> Routes:
    links = [f"/p{number}" for number in range(pages)]
    routes: Routes = {"/": conditional(html("Home", "Welcome to apples.", links=links), '"home"')}
    for number in range(pages):
        body = html(f"Page {number}", prose(number))
        routes[f"/p{number}"] = conditional(body, f'"{number}"')
    return routes


@pytest.mark.django_db
def test_an_unchanged_site_costs_one_conditional_request_a_page(settings: LazySettings) -> None:
    settings.FASTRAG = {**settings.FASTRAG, "EMBEDDER": None}

    def run(address: str) -> Summary:
        summary = sync([address])
        assert not summary.failed
        return summary

    with serving(site(5)) as server:
        run(server.url())
        chunks = Page.objects.get(url=server.url("/p1")).chunks.values_list("pk", flat=True)
        before = set(chunks)
        server.asked.clear()
        second = run(server.url()).sites[0]
        assert (second.fetched, second.unchanged, second.new, second.changed) == (6, 6, 0, 0)
        asked = {path: headers.get("if-none-match") for path, headers in server.asked}
        del asked["/robots.txt"]
        assert asked == {"/": '"home"'} | {f"/p{n}": f'"{n}"' for n in range(5)}
        assert len(server.asked) == len(asked) + 1

        server.routes["/p1"] = conditional(html("Page 1", prose(1), "New: pears."), '"new"')
        del server.routes["/p2"]
        third = run(server.url()).sites[0]
        assert (third.unchanged, third.changed, third.pruned) == (4, 1, 1)
        assert third.skipped == {"answered 404": 1}
        kept = before & set(chunks.all())
        assert kept, "unchanged chunks of a changed page keep their rows"


@pytest.mark.django_db
def test_a_pdf_inherits_from_the_page_that_links_to_it(settings: LazySettings) -> None:
    settings.FASTRAG = {**settings.FASTRAG, "EMBEDDER": None}
    head = '<meta property="og:site_name" content="Orchard"><link rel="icon" href="/i.png">'
    documents = {
        "/a.pdf": Answer(pdf(["Apples grow in the orchard behind the house."]), type=PDF),
        "/scan.pdf": Answer(scanned_pdf(), type=PDF),
    }
    home = Answer(html("Home", "Welcome.", head=head, links=list(documents)))
    with serving({"/": home, **documents}) as server:
        (summary,) = sync([server.url()]).sites
        page = Page.objects.get(url=server.url("/a.pdf"))
        assert (page.site_name, page.favicon_url) == ("Orchard", server.url("/i.png"))
        assert "orchard behind the house" in page.chunks.get().text
        scan = Page.objects.get(url=server.url("/scan.pdf"))
        assert not scan.chunks.exists()
        assert summary.skipped == {scan.note: 1}
        assert (summary.new, sync([server.url()]).sites[0].skipped) == (2, {scan.note: 1})


def command(var_dir: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "manage.py", "sync", "--json", "--no-vectors", *arguments],
        cwd=ROOT,
        env=environment(var_dir, "fastrag_site.settings", {"FASTRAG_CRAWL_RETRY_SECONDS": "0.05"}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def children_of(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for task in tasks for child in task.read_text().split()]


def finished(process: subprocess.Popen[str]) -> dict[str, Any]:
    out, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    summary: dict[str, Any] = json.loads(out)
    return summary


def test_a_sync_killed_half_way_leaves_the_index_whole_and_the_next_continues(
    migrated_var_dir: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    var_dir = copied(migrated_var_dir, tmp_path_factory)
    reached = threading.Event()

    def hangs(handler: Handler) -> None:
        reached.set()
        handler.server.released.wait()

    with serving(site(70)) as server:
        whole = server.routes["/p69"]
        server.routes["/p69"] = hangs
        killed = command(var_dir, server.url())
        assert reached.wait(30)
        children = children_of(killed.pid)
        killed.kill()
        killed.communicate()
        until(lambda: not any(map(alive, children)), 10, "end of the crawler and the reader")

        server.routes["/p69"] = whole
        summary = finished(command(var_dir))
        assert summary["sites"][0]["complete"]
        assert summary["new"] + summary["unchanged"] == 71
        assert summary["unchanged"] > 0, "what the killed sync stored is not fetched again"


def test_two_syncs_of_one_site_at_once_are_one_sync_and_one_refusal(
    migrated_var_dir: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    var_dir = copied(migrated_var_dir, tmp_path_factory)
    reached = threading.Event()

    def slow(handler: Handler) -> None:
        reached.set()
        handler.server.released.wait()
        handler.answer(Answer(html("Slow", "Pears are slow.")))

    with serving({**site(1), "/p0": slow}) as server:
        first = command(var_dir, server.url())
        assert reached.wait(30)
        second = command(var_dir, server.url())
        out, _ = second.communicate(timeout=30)
        assert second.returncode == 1
        assert "is running" in json.loads(out)["sites"][0]["failure"]
        server.released.set()
        assert finished(first)["new"] == 2


def test_twenty_parallel_posts_while_a_sync_runs_never_find_the_database_locked(
    real_server: ServerFactory,
) -> None:
    chat = real_server(env={"FASTRAG_EMBEDDER": "null", "FASTRAG_GENERATIONS_PER_OWNER": "50"})

    def ask(number: int) -> str:
        content = {"content": f"What does page {number} say about apples?"}
        with chat.post("/api/chats", content) as stream:
            assert stream.status == 200, stream.read()
            last = stream.events()[-1]
        return f"{last.name} {last.data['finish_reason']}"

    with serving(site(150)) as pages, ThreadPoolExecutor(20) as pool:
        running = command(chat.var_dir, pages.url())
        until(lambda: len(pages.asked) > 10, 30, "crawl")
        rounds = 0
        while running.poll() is None or rounds == 0:
            for answer in pool.map(ask, range(20)):
                assert answer == "message_end stop"
            rounds += 1
        assert finished(running)["new"] == 151
    assert "database is locked" not in chat.output()
    stored = chat.sql("SELECT count(*) FROM chats_message WHERE finish_reason = 'stop'")
    assert stored == [(20 * rounds,)]
