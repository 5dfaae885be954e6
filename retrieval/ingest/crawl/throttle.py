"""Keeps the crawl's pace to what each host can take.

Scrapy's auto-throttle never speeds up on a 304, which is all that a repeated crawl meets.
Below: addresses. Above: settings name it, robots sets a floor.
"""

from __future__ import annotations

import logging
from typing import Any

from scrapy import Request, signals
from scrapy.http import Response

from retrieval.ingest.crawl.addresses import is_public

MAX_DELAY = 60.0  # seconds between requests, whatever the server is like or asks for
PUBLIC_DELAY = 0.1  # least on the internet; machines of one's own network get none
SERVED = frozenset({200, 304})  # quick errors are no sign of strength

logger = logging.getLogger(__name__)


class Throttle:
    """The delay between two requests follows the time that the host takes to answer one."""

    def __init__(self, crawler: Any) -> None:
        self._crawler = crawler
        self._floors: dict[str, float] = {}

    @classmethod
    def from_crawler(cls, crawler: Any) -> Throttle:
        throttle = cls(crawler)
        crawler.signals.connect(throttle._adjust, signals.response_downloaded)
        return throttle

    def keep_apart(self, host: str, seconds: float) -> None:
        """From now on, never ask a host more often than this, nor twice at once."""
        seconds = min(seconds, MAX_DELAY)
        logger.info("%s asks for %.1f s between requests", host, seconds)
        self._floors[host] = seconds
        paced = {"concurrency": 1, "delay": seconds, "jitter": 0.0}
        downloader = self._crawler.engine.downloader
        downloader.per_slot_settings[host] = paced
        if slot := downloader.slots.get(host):
            slot.concurrency, slot.delay, slot.jitter = 1, seconds, 0.0

    def _adjust(self, response: Response, request: Request) -> None:
        latency = request.meta.get("download_latency")
        host = request.meta.get("download_slot")
        slot = self._crawler.engine.downloader.slots.get(host)
        if latency is None or slot is None:
            return
        # Slower at once, faster by halves.
        delay = max(latency, (slot.delay + latency) / 2)
        if response.status not in SERVED:
            delay = max(delay, slot.delay)
        floor = self._floors.get(host, 0.0)
        if is_public(str(response.ip_address)):
            floor = max(floor, PUBLIC_DELAY)
        slot.delay = min(max(delay, floor), MAX_DELAY)
