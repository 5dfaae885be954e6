"""robots.txt as the crawl obeys it (RFC 9309), with patience.

404 and other 4xx: everything is allowed. 5xx, 429, a time-out or no connection: wait and ask
again, then end the crawl. A page that answers in the place of the file holds no rules. Below:
failures, download. Above: settings name the middleware.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any
from urllib.parse import urlsplit

from protego import Protego
from scrapy import Request
from scrapy.http import Response
from scrapy.http.request import NO_CALLBACK

from retrieval.ingest.crawl.download import retry_wait
from retrieval.ingest.crawl.failures import RobotsDisallow, RobotsUnavailable, explain
from retrieval.ingest.crawl.media import HTML, parse_content_type
from retrieval.ingest.crawl.replies import REDIRECTS
from retrieval.ingest.crawl.throttle import Throttle
from retrieval.ingest.crawl.urls import resolve

MAX_CHARS = 512 * 1024  # of rules that are read
MAX_HOPS = 5  # redirects of the file itself
EXTRA_TRIES = 1  # beyond those of a page: the whole crawl hangs on this file

logger = logging.getLogger(__name__)


def parse_rules(body: bytes, *, content_type: str) -> Protego:
    """The rules of a file; of anything that is no rule file, none."""
    text = body[:MAX_CHARS].decode("utf-8-sig", "replace")
    is_page = parse_content_type(content_type)[0] in HTML or text.lstrip()[:1] == "<"
    return Protego.parse("" if is_page else text)


class RobotsMiddleware:
    """Holds each request until the rules of its host are known."""

    def __init__(self, crawler: Any) -> None:
        self._crawler = crawler
        self._robot: str = crawler.settings["ROBOT"]
        self._rules: dict[str, asyncio.Task[Protego]] = {}

    @classmethod
    def from_crawler(cls, crawler: Any) -> RobotsMiddleware:
        return cls(crawler)

    async def process_request(self, request: Request) -> None:
        if request.meta.get("robots_txt"):
            return
        parts = urlsplit(request.url)
        origin = f"{parts.scheme}://{parts.netloc}"
        if origin not in self._rules:
            self._rules[origin] = asyncio.ensure_future(self._load(origin))
        rules = await asyncio.shield(self._rules[origin])
        if not rules.can_fetch(request.url, self._robot):
            raise RobotsDisallow

    async def _load(self, origin: str) -> Protego:
        response = await self._fetch_patiently(f"{origin}/robots.txt")
        if response.status != 200:
            return Protego.parse("")
        content_type = (response.headers.get("Content-Type") or b"").decode("latin-1")
        rules = parse_rules(response.body, content_type=content_type)
        if delay := rules.crawl_delay(self._robot):
            throttle = self._crawler.get_extension(Throttle)
            throttle.keep_apart(urlsplit(origin).hostname or "", delay)
        return rules

    async def _fetch_patiently(self, url: str) -> Response:
        """Raises RobotsUnavailable."""
        settings = self._crawler.settings
        tries = 1 + settings.getint("RETRY_TIMES") + EXTRA_TRIES
        for attempt in range(tries):
            response: Response | None = None
            try:
                response = await self._fetch(url)
            except Exception as error:
                refusal = explain(error)
                if not refusal.transient:
                    raise RobotsUnavailable(f"could not be read: {refusal.reason}") from error
                problem = refusal.reason
            else:
                if response.status < 500 and response.status != 429:
                    return response
                problem = f"answered {response.status}"
            if attempt + 1 < tries:
                wait = retry_wait(settings.getfloat("RETRY_SECONDS") * 4**attempt, response)
                logger.warning("%s %s; waiting %.1f s", url, problem, wait)
                await asyncio.sleep(wait)
        raise RobotsUnavailable(problem)

    async def _fetch(self, url: str) -> Response:
        for _ in range(1 + MAX_HOPS):
            request = Request(
                url,
                callback=NO_CALLBACK,
                meta={"robots_txt": True, "dont_retry": True},
                dont_filter=True,
            )
            response = await self._crawler.engine.download_async(request)
            location = response.headers.get("Location")
            if response.status not in REDIRECTS or not location:
                break
            target = resolve(url, location.decode("utf-8", "replace"))
            if target is None:
                break
            url = target
        return response
