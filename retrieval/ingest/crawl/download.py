"""The crawl's own layer on the fetching library: address refusals told apart, patient retries.

Below: resolver, failures. Above: settings name these classes.
"""

from __future__ import annotations

import asyncio
from email.utils import parsedate_to_datetime
from time import time
from typing import Any
from urllib.parse import urlsplit

from scrapy import Request
from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler
from scrapy.downloadermiddlewares.retry import RetryMiddleware
from scrapy.exceptions import CannotResolveHostError
from scrapy.http import Response

from retrieval.ingest.crawl.failures import PrivateAddress

MAX_WAIT = 60.0  # seconds, whatever a server asks for


class GuardedHandler(HTTP11DownloadHandler):  # type: ignore[misc]
    """HTTP/1.1 that says when the resolver refused a host's addresses."""

    async def download_request(self, request: Request) -> Response:
        from twisted.internet import reactor

        try:
            return await super().download_request(request)
        except CannotResolveHostError as error:
            host = urlsplit(request.url).hostname or ""
            if reactor.nameResolver.refused(host):
                raise PrivateAddress(host) from error
            raise


class PatientRetry(RetryMiddleware):  # type: ignore[misc]
    """Waits before each retry: as long as the server asks, else longer each time."""

    async def process_response(self, request: Request, response: Response) -> Request | Response:
        result = super().process_response(request, response)
        if result is not response:
            await self._wait(request, response)
        return result

    async def process_exception(self, request: Request, exception: Exception) -> Request | None:
        result = super().process_exception(request, exception)
        if result is not None:
            await self._wait(request)
        return result

    async def _wait(self, request: Request, response: Response | None = None) -> None:
        base: float = self.crawler.settings.getfloat("RETRY_SECONDS")
        tried: int = request.meta.get("retry_times", 0)
        await asyncio.sleep(retry_wait(base * 2**tried, response))


def retry_wait(otherwise: float, response: Any | None = None) -> float:
    """Seconds to wait, bounded. `Retry-After` counts, in seconds or as a date."""
    asked = b"" if response is None else response.headers.get("Retry-After") or b""
    wait = otherwise
    if asked:
        text = asked.decode("latin-1").strip()
        try:
            wait = (
                float(text) if text.isdigit() else parsedate_to_datetime(text).timestamp() - time()
            )
        except (ValueError, TypeError):
            wait = otherwise
    return min(max(wait, 0.0), MAX_WAIT)
