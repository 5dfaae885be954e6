"""Runs a crawl in a child process and yields what it finds.

Below: pipe, wire, conf. Above: ingest.syncing.
"""

from __future__ import annotations

import logging
from collections.abc import Generator
from dataclasses import replace

from fastrag_site.conf import conf
from retrieval.ingest.base import CrawlEnd, CrawlRequest, Fetched, Skipped
from retrieval.ingest.crawl import wire
from retrieval.ingest.crawl.pipe import Child, ChildLost
from retrieval.ingest.crawl.scope import Scope
from retrieval.ingest.crawl.urls import host_name

logger = logging.getLogger(__name__)


def run(request: CrawlRequest) -> Generator[Fetched | Skipped | CrawlEnd, None, None]:
    """Fetch what the request names. The last item is a CrawlEnd; closing kills the child.

    The child fetches ahead of the reader only by what is in flight, so memory stays flat.
    """
    try:
        Scope.of(request)
        trusted = request.trusted_host and host_name(request.trusted_host)
    except ValueError as error:
        yield CrawlEnd(complete=False, failure=f"{request.location}: {error}")
        return
    job = wire.encode_job(replace(request, trusted_host=trusted), _options())
    child = Child(job, seconds=conf().crawl_seconds)
    try:
        for frame in child.frames():
            if frame.name == "log":
                _log(frame)
            elif frame.name in wire.ITEMS:
                item = wire.decode_item(frame)
                yield item
                if isinstance(item, CrawlEnd):
                    return
    except (ChildLost, wire.BadFrame) as error:
        logger.error("The crawl of %s failed: %s. %s", request.location, error, child.last_words())
        yield CrawlEnd(complete=False, failure=str(error))
    finally:
        child.kill()


def _options() -> wire.Options:
    settings = conf()
    return wire.Options(
        user_agent=settings.crawl_user_agent,
        max_bytes=settings.crawl_max_bytes,
        timeout_seconds=settings.crawl_timeout_seconds,
        concurrency=settings.crawl_concurrency,
        retries=settings.crawl_retries,
        retry_seconds=settings.crawl_retry_seconds,
        log_level=logger.getEffectiveLevel(),
    )


def _log(frame: wire.Frame) -> None:
    name, level = str(frame.head.get("logger")), int(frame.head.get("level", logging.INFO))
    logging.getLogger(name).log(level, "%s", frame.head.get("message"))
