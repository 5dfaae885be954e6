"""Fetches the pages of a site, of a sitemap, or one page, as a polite and careful crawler.

process, pipe (parent) ⇄ child: spider → session → frontier, scope, twins, reading, sitemap. Above:
ingest.syncing. Pure helpers that others may use: `urls.normalise`, `addresses.is_public`.
"""

from __future__ import annotations

from collections.abc import Generator

from retrieval.ingest.base import CrawlEnd, CrawlRequest, Fetched, Skipped

__all__ = ["crawl"]


def crawl(request: CrawlRequest) -> Generator[Fetched | Skipped | CrawlEnd, None, None]:
    """Fetch what the request names. The last item is a CrawlEnd; closing stops the crawl."""
    from retrieval.ingest.crawl.process import run  # the child loads this package without Django

    yield from run(request)
