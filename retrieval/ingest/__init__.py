"""Pages in: crawl or read, parse, chunk, store, embed. `sync()` is the way in.

The import is made at the call: child processes of the crawler load this package without Django.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from retrieval.ingest.progress import Reporter
    from retrieval.ingest.summary import Summary

__all__ = ["sync"]


def sync(
    sources: Sequence[str] | None = None,
    *,
    depth: int | None = None,
    max_pages: int | None = None,
    base_url: str | None = None,
    single: bool = False,
    strip_suffix: bool | None = None,
    vectors: bool = True,
    prune: bool = False,
    progress: Reporter | None = None,
) -> Summary:
    """Index the sources, or every enabled site; remember them. Raises BadSource.

    Options that are None keep what the site has. `single`: a web address is one page, not a site.
    `prune`: remove the pages that a complete crawl did not meet, even if they are most of a site.
    """
    from retrieval.ingest.progress import silent
    from retrieval.ingest.sites import SourceOptions
    from retrieval.ingest.syncing import sync_sources

    options = SourceOptions(
        depth=depth,
        max_pages=max_pages,
        base_url=base_url,
        single=single,
        strip_suffix=strip_suffix,
    )
    return sync_sources(
        sources, options=options, vectors=vectors, prune=prune, report=progress or silent
    )
