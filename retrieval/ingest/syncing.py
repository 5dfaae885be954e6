"""Keeps sites indexed: fetch, tell changed from unchanged, store, prune, then fill vectors.

Below: crawl, folder, run, store, lease. Above: `retrieval.ingest.sync`, the tasks.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.utils import timezone

from fastrag_site.conf import conf
from retrieval.index import sparse_index
from retrieval.ingest.base import CrawlEnd, CrawlRequest
from retrieval.ingest.crawl import crawl
from retrieval.ingest.folder import FolderRequest, folder_documents
from retrieval.ingest.inherit import identities_inherit
from retrieval.ingest.lease import Lease, LeaseLost, SiteBusy, site_lease
from retrieval.ingest.ledger import Ledger
from retrieval.ingest.progress import Reporter, silent
from retrieval.ingest.reading import Item, read_ahead
from retrieval.ingest.run import SiteRun
from retrieval.ingest.sites import SourceOptions, site_remember, sites_enabled
from retrieval.ingest.summary import SiteSummary, Summary
from retrieval.ingest.vectorise import vectors_fill
from retrieval.models import Chunk, Site

logger = logging.getLogger(__name__)


def sync_sources(
    sources: Sequence[str] | None,
    *,
    options: SourceOptions,
    vectors: bool,
    prune: bool,
    report: Reporter,
) -> Summary:
    """Sync the sources, or all enabled sites. Raises BadSource before anything is fetched."""
    named = [site_remember(source, options) for source in sources or ()]
    return sites_sync(named or sites_enabled(), vectors=vectors, prune=prune, report=report)


def sites_sync(
    sites: Sequence[Site],
    *,
    vectors: bool = True,
    prune: bool = False,
    report: Reporter = silent,
) -> Summary:
    """Sync the sites in turn, then fill vectors; one that fails does not stop the others."""
    started = time.monotonic()
    done = tuple(site_sync(site, prune=prune, report=report) for site in sites)
    if any(site.chunks_added or site.chunks_removed for site in done):
        sparse_index().optimize()
    embedded, notes = vectors_fill(report) if vectors else (0, ())
    return Summary(sites=done, embedded=embedded, notes=notes, seconds=time.monotonic() - started)


def site_sync(site: Site, *, prune: bool = False, report: Reporter = silent) -> SiteSummary:
    """Sync one site, without its vectors, and store the outcome on it."""
    try:
        with site_lease(site) as lease:
            summary = _sync_leased(site, lease, prune=prune, report=report)
            Site.objects.filter(pk=site.pk, lease=lease.token).update(**_outcome(summary))
    except SiteBusy as busy:
        return SiteSummary(location=site.location, failure=str(busy))
    return summary


def _outcome(summary: SiteSummary) -> dict[str, Any]:
    return {
        "last_sync_at": timezone.now(),
        "last_outcome": Site.Outcome.FAILED if summary.failure else Site.Outcome.OK,
        "last_summary": summary.to_dict(),
    }


def _sync_leased(site: Site, lease: Lease, *, prune: bool, report: Reporter) -> SiteSummary:
    started = time.monotonic()
    run = SiteRun(Ledger(site), confirm=lease.confirm, report=report)
    end = CrawlEnd(complete=False, failure="The crawl broke off.")
    try:
        with (
            contextlib.closing(_documents(site, run.ledger)) as documents,
            contextlib.closing(read_ahead(documents, needed=run.needs_reading)) as readings,
        ):
            for item, read in readings:
                if isinstance(item, CrawlEnd):
                    end = item
                    break
                run.take(item, read)
        doubt = run.finish(complete=end.complete and not end.failure, prune=prune)
        end = replace(end, failure=end.failure or doubt)
        identities_inherit(site)
    except KeyboardInterrupt:
        failed = SiteSummary(location=site.location, failure="Interrupted; sync again to continue.")
        Site.objects.filter(pk=site.pk, lease=lease.token).update(**_outcome(failed))
        raise
    except LeaseLost as lost:
        end = CrawlEnd(complete=False, failure=f"Stopped: {lost}.")
    except Exception:
        logger.exception("The sync of %s failed", site.location)
        end = CrawlEnd(complete=False, failure="An unexpected error; the log has the details.")
    return _summary(site, run, end, time.monotonic() - started)


def _documents(site: Site, ledger: Ledger) -> Generator[Item]:
    """The site's documents, from the web or from its folder."""
    if site.kind == Site.Kind.DOCUMENTS:
        yield CrawlEnd(complete=False, failure="Documents come over RCP; there is nothing to sync.")
        return
    known = ledger.known()
    max_pages = site.max_pages or conf().crawl_max_pages
    if site.kind == Site.Kind.FOLDER:
        folder = FolderRequest(
            root=Path(site.location),
            base_url=site.base_url,
            strip_suffix=site.strip_suffix,
            max_pages=max_pages,
            max_bytes=conf().crawl_max_bytes,
            known=known,
        )
        yield from folder_documents(folder)
        return
    request = CrawlRequest(
        kind=site.kind,
        location=site.location,
        depth=conf().crawl_depth if site.depth is None else site.depth,
        max_pages=max_pages,
        trusted_host=urlsplit(site.location).hostname,
        known=known,
    )
    items: Iterator[Item] = crawl(request)
    yield from items


def _summary(site: Site, run: SiteRun, end: CrawlEnd, seconds: float) -> SiteSummary:
    tally = run.tally
    return SiteSummary(
        location=site.location,
        failure=end.failure,
        complete=end.complete,
        fetched=tally.fetched,
        unchanged=tally.unchanged,
        new=tally.new,
        changed=tally.changed,
        pruned=tally.pruned,
        skipped=dict(tally.skipped),
        examples=tally.examples,
        chunks=Chunk.objects.filter(page__site=site).count(),
        chunks_added=tally.chunks_added,
        chunks_removed=tally.chunks_removed,
        seconds=round(seconds, 3),
    )
