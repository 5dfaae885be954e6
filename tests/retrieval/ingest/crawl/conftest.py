"""A loopback web server that follows a script, and crawls through the real child process."""

from __future__ import annotations

import os
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from django.test import override_settings

from retrieval.ingest.base import CrawlEnd, CrawlRequest, Fetched, Known, Skipped
from retrieval.ingest.crawl import crawl

HTML = "text/html; charset=utf-8"
QUICK: Mapping[str, Any] = {"CRAWL_RETRIES": 1, "CRAWL_RETRY_SECONDS": 0.01}


@dataclass(frozen=True)
class Page:
    """An answer: `body` with what a web server would add."""

    body: str | bytes = ""
    status: int = 200
    type: str = HTML
    headers: Mapping[str, str] = field(default_factory=dict)


def redirect(location: str, status: int = 302) -> Page:
    return Page(status=status, headers={"Location": location})


def linking(*hrefs: str, text: str = "words") -> Page:
    anchors = "".join(f'<a href="{href}">{href}</a>' for href in hrefs)
    return Page(f"<!doctype html><title>t</title><p>{text}</p>{anchors}")


Script = Callable[["Handler"], None]
Routes = dict[str, Page | Script]


class Server(ThreadingHTTPServer):
    """Answers `routes`; everything else is 404. `released` ends scripts that hang."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, routes: Routes) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.routes = routes
        self.asked: list[tuple[str, Mapping[str, str]]] = []
        self.released = threading.Event()

    def url(self, path: str = "/", host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.server_port}{path}"

    def paths(self) -> list[str]:
        return [path for path, _ in self.asked]

    def handle_error(self, *_: object) -> None:
        """A client that leaves in the middle is what several tests are about."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def do_GET(self) -> None:
        self.server.asked.append((self.path, {k.lower(): v for k, v in self.headers.items()}))
        route = self.server.routes.get(self.path, Page("gone", status=404))
        if isinstance(route, Page):
            self.answer(route)
        else:
            route(self)

    def answer(self, page: Page) -> None:
        body = page.body.encode() if isinstance(page.body, str) else page.body
        self.send_response(page.status)
        if page.type:
            self.send_header("Content-Type", page.type)
        for name, value in page.headers.items():
            self.send_header(name, value)
        if page.status != 304:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if page.status != 304:
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Quiet."""


@contextmanager
def serving(routes: Routes, *, tls: ssl.SSLContext | None = None) -> Iterator[Server]:
    server = Server(routes)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield server
    finally:
        server.released.set()
        server.shutdown()
        thread.join()
        server.server_close()


@dataclass(frozen=True)
class Crawled:
    """All that one crawl gave."""

    items: tuple[Fetched | Skipped, ...]
    end: CrawlEnd
    peak_bytes: int  # of the child's memory

    @property
    def pages(self) -> dict[str, Fetched]:
        return {item.url: item for item in self.items if isinstance(item, Fetched)}

    @property
    def skipped(self) -> dict[str, Skipped]:
        return {item.url: item for item in self.items if isinstance(item, Skipped)}

    def known(self) -> dict[str, Known]:
        return {
            url: Known(etag=page.etag, last_modified=page.last_modified, links=page.links)
            for url, page in self.pages.items()
        }


def crawled(
    location: str,
    *,
    kind: str = "site",
    depth: int = 10,
    max_pages: int = 1_000,
    trusted_host: str | None = "127.0.0.1",
    known: Mapping[str, Known] | None = None,
    **conf: Any,
) -> Crawled:
    request = CrawlRequest(
        kind=kind,
        location=location,
        depth=depth,
        max_pages=max_pages,
        trusted_host=trusted_host,
        known=known or {},
    )
    items: list[Fetched | Skipped] = []
    with override_settings(FASTRAG={**QUICK, **conf}), closing(crawl(request)) as found:
        for item in found:
            if isinstance(item, CrawlEnd):
                return Crawled(items=tuple(items), end=item, peak_bytes=_children_peak())
            items.append(item)
    raise AssertionError("a crawl must end with CrawlEnd")


def children() -> list[int]:
    """Process ids of this process's living children."""
    found: list[int] = []
    for task in Path("/proc/self/task").glob("*/children"):
        with suppress(FileNotFoundError, ProcessLookupError):  # a thread that just ended
            found += map(int, task.read_text().split())
    return found


def _children_peak() -> int:
    """Of crawls alone: other tests may have left a server running."""
    peaks = [0]
    for pid in children():
        if b"retrieval.ingest.crawl.child" not in Path(f"/proc/{pid}/cmdline").read_bytes():
            continue
        status = Path(f"/proc/{pid}/status").read_text()
        peaks += [int(line.split()[1]) * 1024 for line in status.splitlines() if "VmHWM" in line]
    return max(peaks)


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
