"""Writes pages with their chunks and postings: one short transaction a batch.

Chunks are compared by content hash, so that unchanged ones keep their row, postings and vector.
Below: models, index. Above: ingest.syncing, the admin. No network and no model call in here.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone

from retrieval.index import dense_index, sparse_index
from retrieval.index.state import index_bump
from retrieval.ingest.base import Document, Fetched, Passage
from retrieval.ingest.words import count_words
from retrieval.models import Chunk, Page, Site

PRUNE_PAGES = 50  # pages a transaction, so that writers of answers get their turn
# Moved chunks are parked beyond every real position, because (page, position) is unique.
PARKED = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class PageWrite:
    """One page as it is to be stored. Without a document it is a note: why it is not searchable."""

    url: str  # canonical
    fetched: Fetched
    content_hash: str
    recipe: str
    document: Document | None = None
    passages: tuple[Passage, ...] = ()
    note: str = ""
    canonical_url: str = ""  # of a duplicate: the page kept
    replaces: int | None = None  # page that moved to this address


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """What became of one write. `owner`: another site has the page, nothing was written."""

    page_id: int
    new: bool = False
    changed: bool = False
    chunks_added: int = 0
    chunks_kept: int = 0
    chunks_removed: int = 0
    owner: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruned:
    pages: int = 0
    chunks: int = 0


def pages_store(
    site: Site, writes: Sequence[PageWrite], *, confirm: Callable[[], None] = lambda: None
) -> list[Stored]:
    """Store a batch in one transaction; `confirm` may raise to refuse it. One write an address."""

    def attempt() -> list[Stored]:
        with transaction.atomic():
            confirm()
            index_bump()  # first, so that writers queue here and never wait for each other's rows
            batch = _Batch(site, writes)
            stored = [batch.write(write) for write in writes]
            batch.apply()
        return stored

    try:
        return attempt()
    except IntegrityError:
        return attempt()  # the sync of another site was first with one of the addresses


def pages_prune(page_ids: Iterable[int], *, confirm: Callable[[], None] = lambda: None) -> Pruned:
    """Remove pages from every index and from the database, a few at a time."""
    ids, pages, chunks = sorted(page_ids), 0, 0
    for start in range(0, len(ids), PRUNE_PAGES):
        some = ids[start : start + PRUNE_PAGES]
        with transaction.atomic():
            confirm()
            index_bump()
            gone = list(Chunk.objects.filter(page__in=some).values_list("pk", flat=True))
            _chunks_remove(gone)
            _, by_model = Page.objects.filter(pk__in=some).delete()
        pages += by_model.get(Page._meta.label, 0)
        chunks += len(gone)
    return Pruned(pages=pages, chunks=chunks)


@dataclass(slots=True, kw_only=True)
class _Row:
    """A stored chunk, without its text."""

    pk: int
    content_hash: str
    position: int
    anchor: str
    fragment_start: str
    fragment_end: str


@dataclass(slots=True)
class _Batch:
    """Collects the differences of several pages, then applies them with few statements."""

    site: Site
    writes: Sequence[PageWrite]
    now: datetime = field(default_factory=timezone.now)
    new: list[Chunk] = field(default_factory=list)
    removed: list[int] = field(default_factory=list)
    moved: list[Chunk] = field(default_factory=list)
    _pages: dict[str, Page] = field(default_factory=dict)
    _by_id: dict[int, Page] = field(default_factory=dict)
    _rows: dict[int, list[_Row]] = field(default_factory=lambda: defaultdict(list))

    def __post_init__(self) -> None:
        moves = [write.replaces for write in self.writes if write.replaces is not None]
        found = Page.objects.select_related("site").defer("links")
        for page in found.filter(url__in=[write.url for write in self.writes]):
            self._pages[page.url] = page
        self._by_id = {page.pk: page for page in found.filter(pk__in=moves, site=self.site)}
        ids = [page.pk for page in self._pages.values()] + list(self._by_id)
        rows = Chunk.objects.filter(page__in=ids).order_by("page_id", "position")
        for page_id, *values in rows.values_list("page_id", "pk", *_Row.__slots__[1:]):
            self._rows[page_id].append(_Row(**dict(zip(_Row.__slots__, values, strict=True))))

    def write(self, write: PageWrite) -> Stored:
        page = self._pages.get(write.url)
        if page is not None and page.site_id != self.site.pk:
            return Stored(page_id=page.pk, owner=page.site.location)
        if page is None and write.replaces is not None:
            page = self._by_id.pop(write.replaces, None)
        new = page is None
        page = page or Page(site=self.site)
        retitled = _fill(page, write)
        page.fetched_at = self.now
        added, kept, removed = self._differences(page, write.passages)
        changed = bool(new or added or removed or retitled)
        if changed:
            page.changed_at = self.now
        page.save()
        self._pages[write.url] = page
        return Stored(
            page_id=page.pk,
            new=new,
            changed=changed,
            chunks_added=added,
            chunks_kept=kept,
            chunks_removed=removed,
        )

    def _differences(self, page: Page, passages: Sequence[Passage]) -> tuple[int, int, int]:
        stored: dict[str, list[_Row]] = defaultdict(list)
        for row in reversed(self._rows.pop(page.pk, []) if page.pk else []):
            stored[row.content_hash].append(row)
        added = 0
        for position, passage in enumerate(passages):
            chunk = _chunk(page, position, passage)
            if rows := stored.get(chunk.content_hash):
                self._keep(rows.pop(), chunk)
            else:
                self.new.append(chunk)
                added += 1
        gone = [row.pk for rows in stored.values() for row in rows]
        self.removed.extend(gone)
        return added, len(passages) - added, len(gone)

    def _keep(self, row: _Row, chunk: Chunk) -> None:
        names = ("position", "anchor", "fragment_start", "fragment_end")
        if any(getattr(row, name) != getattr(chunk, name) for name in names):
            chunk.pk = row.pk
            self.moved.append(chunk)

    def apply(self) -> None:
        _chunks_remove(self.removed)
        ids = [chunk.pk for chunk in self.moved]
        Chunk.objects.filter(pk__in=ids).update(position=F("position") + PARKED)
        places = ["position", "anchor", "fragment_start", "fragment_end"]
        Chunk.objects.bulk_update(self.moved, places, batch_size=100)
        Chunk.objects.bulk_create(self.new, batch_size=200)
        if self.new:
            sparse_index().add(self.new, languages=[chunk.page.language for chunk in self.new])


def _chunks_remove(chunk_ids: Sequence[int]) -> None:
    if chunk_ids:
        sparse_index().remove(chunk_ids)
        dense_index().remove(chunk_ids)
        Chunk.objects.filter(pk__in=chunk_ids).delete()


def _fill(page: Page, write: PageWrite) -> bool:
    """Set the page's own fields; True where its title or address changed."""
    before = (page.url, page.title)
    fetched, document = write.fetched, write.document or Document(title=None)
    page.url = write.url
    page.title = (document.title or write.url)[:500]
    page.media_type = fetched.media_type[:100]
    page.language = document.language[:16]
    if page.media_type == "text/html" or document.site_name or document.favicon_url:
        # Other documents inherit both later: until then they keep what they had.
        page.site_name = (document.site_name or "")[:300] or None
        page.favicon_url = _fitting(document.favicon_url, 2000) or None
    page.note = write.note[:300]
    page.fetched_url, page.canonical_url = fetched.url, write.canonical_url
    page.linked_from = _fitting(fetched.linked_from, 2000)
    page.etag = _fitting(fetched.etag, 500)
    page.last_modified = _fitting(fetched.last_modified, 100)
    page.content_hash, page.recipe = write.content_hash, write.recipe
    page.links = list(fetched.links)
    return before != (page.url, page.title)


def _fitting(text: str | None, limit: int) -> str:
    """A value that is useless when cut or cleaned: whole or empty. Headers may hold a NUL."""
    return text if text and len(text) <= limit and "\0" not in text else ""


def _chunk(page: Page, position: int, passage: Passage) -> Chunk:
    fragment = passage.fragment
    searched = "\0".join((page.language, page.title, *passage.section, passage.text))
    return Chunk(
        page=page,
        position=position,
        text=passage.text,
        section=list(passage.section),
        anchor=_fitting(passage.anchor, 300),
        fragment_start=fragment.start if fragment else "",
        fragment_end=(fragment.end or "") if fragment else "",
        word_count=count_words(passage.text),
        content_hash=hashlib.sha256(searched.encode()).hexdigest(),
    )
