"""What one sync has decided but not yet written, flushed as short transactions.

Below: store. Above: ingest.run.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from django.db import transaction

from retrieval.ingest.store import PageWrite, Stored, pages_prune, pages_store
from retrieval.ingest.summary import Tally
from retrieval.models import Page, Site

MAX_PAGES = 24  # a transaction stays short, so that answers are stored meanwhile
MAX_CHUNKS = 400
MAX_SECONDS = 2.0

OWNED = "already indexed by another site"


@dataclass(slots=True, kw_only=True)
class Pending:
    """Bounded buffers of writes, renewals and removals."""

    site: Site
    confirm: Callable[[], None]
    tally: Tally
    seen: set[int] = field(default_factory=set)  # pages known to be there still
    _writes: dict[str, PageWrite] = field(default_factory=dict)  # by address
    _renewed: list[Page] = field(default_factory=list)
    _gone: set[int] = field(default_factory=set)
    _since: float = field(default_factory=time.monotonic)

    def write(self, write: PageWrite) -> None:
        if write.url in self._writes:
            self.flush()  # one write an address and batch
        self._writes[write.url] = write

    def renew(self, page: Page) -> None:
        self._renewed.append(page)

    def prune(self, page_ids: set[int]) -> None:
        self._gone |= page_ids
        self.seen -= page_ids

    def flush_when_due(self) -> None:
        waiting = len(self._writes) + len(self._renewed) + len(self._gone)
        chunks = sum(len(write.passages) for write in self._writes.values())
        late = time.monotonic() - self._since > MAX_SECONDS
        if waiting >= MAX_PAGES or chunks >= MAX_CHUNKS or (waiting and late):
            self.flush()

    def flush(self) -> None:
        writes = list(self._writes.values())
        if writes:
            for write, stored in zip(
                writes, pages_store(self.site, writes, confirm=self.confirm), strict=True
            ):
                self._count(write, stored)
        if self._renewed:
            fields = ["fetched_at", "etag", "last_modified", "linked_from"]
            with transaction.atomic():
                self.confirm()
                Page.objects.bulk_update(self._renewed, fields, batch_size=100)
        if gone := self._gone - self.seen:
            pruned = pages_prune(gone, confirm=self.confirm)
            self.tally.pruned += pruned.pages
            self.tally.chunks_removed += pruned.chunks
        self._writes, self._renewed, self._gone = {}, [], set()
        self._since = time.monotonic()

    def _count(self, write: PageWrite, stored: Stored) -> None:
        if stored.owner is not None:
            self.tally.skip(OWNED, write.url)
            return
        self.seen.add(stored.page_id)
        self.tally.chunks_added += stored.chunks_added
        self.tally.chunks_removed += stored.chunks_removed
        if write.note:
            self.tally.pruned += bool(stored.chunks_removed)
        elif stored.new:
            self.tally.new += 1
        else:
            self.tally.changed += 1
