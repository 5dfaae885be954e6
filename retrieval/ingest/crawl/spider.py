"""Fetches what the session asks for and sends on what it makes of the replies.

Below: session, failures, output. Above: child. The session decides; this file speaks Scrapy.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from scrapy import Request, Spider, signals
from scrapy.exceptions import StopDownload
from scrapy.http import Headers, Response

from retrieval.ingest.crawl.failures import explain
from retrieval.ingest.crawl.frontier import Target
from retrieval.ingest.crawl.media import may_be_document, parse_content_type
from retrieval.ingest.crawl.output import Output
from retrieval.ingest.crawl.replies import Reply
from retrieval.ingest.crawl.session import Item, Session
from retrieval.ingest.crawl.sitemap import MAX_BYTES

BEAT_SECONDS = 5.0


class PageSpider(Spider):  # type: ignore[misc]
    name = "pages"

    def __init__(self, *, session: Session, output: Output) -> None:
        super().__init__()
        self._session = session
        self._output = output
        self._beat: asyncio.Task[None] | None = None

    @classmethod
    def from_crawler(cls, crawler: Any, **parts: Any) -> PageSpider:
        spider: PageSpider = super().from_crawler(crawler, **parts)
        crawler.signals.connect(spider._stop_unwanted, signals.headers_received)
        crawler.signals.connect(spider._closed, signals.spider_closed)
        return spider

    async def start(self) -> AsyncIterator[Request]:
        self._beat = asyncio.ensure_future(self._output.beat(BEAT_SECONDS))
        for target in self._session.targets():
            yield self._request(target)

    async def parse(self, response: Response, target: Target) -> AsyncIterator[Request]:
        reply = Reply(status=response.status, headers=_texts(response.headers), body=response.body)
        async for request in self._go_on(self._session.replied(target, reply)):
            yield request

    async def failed(self, failure: Any) -> AsyncIterator[Request]:
        target: Target = failure.request.cb_kwargs["target"]
        refusal = explain(failure.value)
        async for request in self._go_on(self._session.refused(target, refusal)):
            yield request

    async def _go_on(self, items: list[Item]) -> AsyncIterator[Request]:
        # Sent before more is asked for: a slow reader slows the crawl, and memory stays flat.
        for item in items:
            await self._output.send(item)
        for target in self._session.targets():
            yield self._request(target)

    def _request(self, target: Target) -> Request:
        headers = {}
        if known := self._session.known(target):
            if known.etag:
                headers["If-None-Match"] = known.etag
            if known.last_modified:
                headers["If-Modified-Since"] = known.last_modified
        return Request(
            target.address,
            callback=self.parse,
            errback=self.failed,
            cb_kwargs={"target": target},
            headers=headers,
            meta={"download_maxsize": MAX_BYTES} if target.listing else {},
            dont_filter=True,
        )

    def _stop_unwanted(self, headers: Headers, request: Request) -> None:
        """Do not receive the body of a video."""
        target = request.cb_kwargs.get("target")
        if target is None or target.listing:
            return
        declared, _ = parse_content_type(_text(headers.get("Content-Type") or b""))
        if not may_be_document(declared):
            raise StopDownload(fail=False)

    async def _closed(self, reason: str) -> None:
        if self._beat:
            self._beat.cancel()
        await self._output.flush()
        await self._output.send(self._session.end(finished=reason == "finished"))


def _texts(headers: Headers) -> dict[str, tuple[str, ...]]:
    return {
        name.decode("latin-1").lower(): tuple(map(_text, values))
        for name, values in headers.items()
    }


def _text(value: bytes) -> str:
    """A header value: UTF-8 where it is, as in the Location of many servers."""
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return value.decode("latin-1")
