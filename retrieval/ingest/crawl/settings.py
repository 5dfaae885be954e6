"""Scrapy settings of a crawl. The component lists are complete: nothing else of Scrapy runs.

Below: wire (Options). Above: child.
"""

from __future__ import annotations

from typing import Any

from retrieval.ingest.crawl.wire import Options

PACKAGE = "retrieval.ingest.crawl"
ACCEPT = (
    "text/html,application/xhtml+xml,application/pdf;q=0.9,"
    "text/markdown;q=0.8,text/plain;q=0.8,*/*;q=0.1"
)


def scrapy_settings(options: Options, *, trusted_host: str | None) -> dict[str, Any]:
    handler = f"{PACKAGE}.download.GuardedHandler"
    return {
        # Ours
        "TRUSTED_HOST": trusted_host,
        "ROBOT": options.robot,
        "RETRY_SECONDS": options.retry_seconds,
        # Who asks, and for what
        "USER_AGENT": options.user_agent,
        "DEFAULT_REQUEST_HEADERS": {"Accept": ACCEPT},
        # Pace: the throttle takes it from here
        "CONCURRENT_REQUESTS": options.concurrency,
        "CONCURRENT_REQUESTS_PER_DOMAIN": options.concurrency,
        "DOWNLOAD_DELAY": 0,
        "DOWNLOAD_DELAY_JITTER": 0.25,
        # Bounds
        "DOWNLOAD_TIMEOUT": options.timeout_seconds,
        "DOWNLOAD_MAXSIZE": options.max_bytes,
        "DOWNLOAD_WARNSIZE": 0,
        "DOWNLOAD_FAIL_ON_DATALOSS": True,
        "RETRY_TIMES": options.retries,
        "RETRY_GIVE_UP_LOG_LEVEL": "DEBUG",
        "REACTOR_THREADPOOL_MAXSIZE": 8,
        # Safety
        "DOWNLOAD_VERIFY_CERTIFICATES": True,
        "TWISTED_DNS_RESOLVER": f"{PACKAGE}.resolver.GuardedResolver",
        "DOWNLOAD_HANDLERS_BASE": {"http": handler, "https": handler},
        "COOKIES_ENABLED": False,
        # Parts
        "TWISTED_REACTOR": "twisted.internet.asyncioreactor.AsyncioSelectorReactor",
        "EXTENSIONS_BASE": {f"{PACKAGE}.throttle.Throttle": 0},
        "SPIDER_MIDDLEWARES_BASE": {},
        "DOWNLOADER_MIDDLEWARES_BASE": {
            f"{PACKAGE}.robots.RobotsMiddleware": 100,
            "scrapy.downloadermiddlewares.downloadtimeout.DownloadTimeoutMiddleware": 350,
            "scrapy.downloadermiddlewares.defaultheaders.DefaultHeadersMiddleware": 400,
            "scrapy.downloadermiddlewares.useragent.UserAgentMiddleware": 500,
            f"{PACKAGE}.download.PatientRetry": 550,
            "scrapy.downloadermiddlewares.httpcompression.HttpCompressionMiddleware": 590,
        },
        # The session tells addresses apart and keeps their order
        "DUPEFILTER_CLASS": "scrapy.dupefilters.BaseDupeFilter",
        "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
        "STATS_DUMP": False,
        "LOG_VERSIONS": [],
    }
