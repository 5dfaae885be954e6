"""One sync of one site: decides for each fetched document what is to be written or pruned.

Below: ledger, parse, chunk, pending. Above: ingest.syncing feeds it the items of a crawl.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from urllib.parse import urlsplit

from django.utils import timezone

from retrieval.ingest.base import Document, Fetched, Passage, Skipped
from retrieval.ingest.crawl.urls import MAX_CHARS, resolve
from retrieval.ingest.ledger import Ledger, Remembered, digest
from retrieval.ingest.pending import Pending
from retrieval.ingest.progress import Phase, Progress, Reporter
from retrieval.ingest.reading import Read, Reading
from retrieval.ingest.store import PageWrite
from retrieval.ingest.summary import Tally
from retrieval.models import Page, Site

# A crawl that misses more than half of this many pages looks like a site that is down for
# maintenance; then the operator decides.
SUSPICIOUS_PAGES = 20

DUPLICATE = "another address of a page already indexed"
NO_TEXT = "no text found"
NOINDEX = "noindex"
TOO_LONG = "address is too long"


class SiteRun:
    """Takes a crawl's items one by one and remembers which pages it met."""

    def __init__(self, ledger: Ledger, *, confirm: Callable[[], None], report: Reporter) -> None:
        self.ledger = ledger
        self.tally = Tally()
        self.pending = Pending(site=ledger.site, confirm=confirm, tally=self.tally)
        self._report = report
        self._taken: set[str] = set()  # addresses fetched in this run
        self._written: set[str] = set()  # addresses stored in this run

    def needs_reading(self, fetched: Fetched) -> bool:
        known = self.ledger.fetched_at(fetched.url)
        return not (fetched.noindex or fetched.not_modified or self._is_unchanged(known, fetched))

    def take(self, item: Fetched | Skipped, read: Read | None) -> None:
        """`read`: what a document says, where it needs reading."""
        if isinstance(item, Skipped):
            self._skip(item)
        else:
            self.tally.fetched += 1
            self._fetched(item, read)
        self.pending.flush_when_due()
        done = self.tally.fetched + self.tally.skipped.total()
        self._report(Progress(phase=Phase.PAGES, done=done, detail=item.url))

    def finish(self, *, complete: bool, prune: bool) -> str | None:
        """Write what waits; prune what a complete crawl did not meet. A reason to ask, or None."""
        self.pending.flush()
        if not complete:
            return None
        absent = self.ledger.absent(self.pending.seen)
        total = len(self.ledger)
        if total >= SUSPICIOUS_PAGES and len(absent) > total / 2 and not prune:
            return (
                f"{len(absent)} of {total} pages were not met, so none was removed. "
                "If they are really gone, sync again with --prune."
            )
        self.pending.prune(absent)
        self.pending.flush()
        return None

    def _skip(self, item: Skipped) -> None:
        self.tally.skip(item.reason, item.url)
        page = self.ledger.fetched_at(item.url)
        if page is None:
            return
        if item.gone:
            # What is known of its duplicates goes too: they are read anew by the next sync.
            self.pending.prune({page.page_id, *self.ledger.duplicates_of(page.url)})
        elif item.transient:
            self._keep(page)

    def _keep(self, page: Remembered) -> None:
        self.pending.seen.add(page.page_id)
        if page.canonical_url and (kept := self.ledger.stored_at(page.canonical_url)):
            self.pending.seen.add(kept.page_id)

    def _fetched(self, fetched: Fetched, read: Read | None) -> None:
        if fetched.url in self._taken:
            self.tally.skip(DUPLICATE, fetched.requested_url)
            return
        self._taken.add(fetched.url)
        known = self.ledger.fetched_at(fetched.url)
        if fetched.noindex:
            self._skip(Skipped(url=fetched.url, reason=NOINDEX, gone=True))
        elif len(fetched.url) > MAX_CHARS:
            self.tally.skip(TOO_LONG, fetched.url[:MAX_CHARS])
        elif isinstance(read, Reading):
            self._changed(fetched, read)
        elif isinstance(read, Skipped):
            self._unreadable(fetched, read)
        elif known:
            self._unchanged(known, fetched)

    def _is_unchanged(self, known: Remembered | None, fetched: Fetched) -> bool:
        if known is None or known.recipe != self.ledger.recipe:
            return False
        return known.content_hash == digest(fetched)

    def _unchanged(self, known: Remembered, fetched: Fetched) -> None:
        self._keep(known)
        if known.note:
            self.tally.skip(known.note, fetched.url)
        else:
            self.tally.unchanged += 1
        renewed = Page(
            pk=known.page_id,
            fetched_at=timezone.now(),
            etag=(fetched.etag or known.etag)[:500],
            last_modified=(fetched.last_modified or known.last_modified)[:100],
            linked_from=(fetched.linked_from or known.linked_from)[:MAX_CHARS],
        )
        self.pending.renew(renewed)

    def _unreadable(self, fetched: Fetched, skipped: Skipped) -> None:
        if skipped.gone or skipped.transient:
            self._skip(replace(skipped, url=fetched.url))
        else:
            self._note(fetched, skipped.reason)

    def _changed(self, fetched: Fetched, read: Reading) -> None:
        url = _address(fetched, read.document)
        if read.document.noindex:
            self._skip(Skipped(url=fetched.url, reason=NOINDEX, gone=True))
        elif url != fetched.url and self._is_stored_from_elsewhere(url, fetched):
            self._note(fetched, DUPLICATE, document=read.document, canonical_url=url)
        elif read.passages:
            self._write(fetched, url=url, document=read.document, passages=read.passages)
        else:
            self._note(fetched, NO_TEXT, document=read.document)

    def _is_stored_from_elsewhere(self, url: str, fetched: Fetched) -> bool:
        page = self.ledger.stored_at(url)
        return url in self._written or (page is not None and page.fetched_url != fetched.url)

    def _note(
        self,
        fetched: Fetched,
        reason: str,
        *,
        document: Document | None = None,
        canonical_url: str = "",
    ) -> None:
        self.tally.skip(reason, fetched.url)
        if kept := self.ledger.stored_at(canonical_url):
            self.pending.seen.add(kept.page_id)
        self._write(
            fetched, url=fetched.url, document=document, note=reason, canonical_url=canonical_url
        )

    def _write(
        self,
        fetched: Fetched,
        *,
        url: str,
        document: Document | None,
        passages: tuple[Passage, ...] = (),
        note: str = "",
        canonical_url: str = "",
    ) -> None:
        write = PageWrite(
            url=url,
            fetched=replace(fetched, body=b"", links=self._links(fetched, document)),
            content_hash=digest(fetched),
            recipe=self.ledger.recipe,
            document=document,
            passages=passages,
            note=note,
            canonical_url=canonical_url,
            replaces=self._predecessor(fetched, url),
        )
        self.pending.write(write)
        self._written.add(url)

    def _links(self, fetched: Fetched, document: Document | None) -> tuple[str, ...]:
        """A crawl says what it may follow; a folder's links only tell who links to a document."""
        is_folder = self.ledger.site.kind == Site.Kind.FOLDER
        return document.links if is_folder and document else fetched.links

    def _predecessor(self, fetched: Fetched, url: str) -> int | None:
        """The page that now answers under `url`: by its canonical link, or by a redirect."""
        for address in (fetched.url, fetched.requested_url):
            page = self.ledger.fetched_at(address)
            if page and page.url != url and page.page_id not in self.pending.seen:
                return page.page_id
        return None


def _address(fetched: Fetched, document: Document) -> str:
    """Where the page is stored: its canonical address, where that is on the same host."""
    canonical = resolve(fetched.url, document.canonical_url or "")
    if canonical is None or urlsplit(canonical).netloc != urlsplit(fetched.url).netloc:
        return fetched.url
    return canonical
