"""What earlier syncs remember of a site's pages: enough to tell changed from unchanged.

Below: models. Above: ingest.syncing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from fastrag_site.conf import conf
from retrieval.ingest.base import Fetched, Known
from retrieval.models import Page, Site

# Raise when parsing, chunking or fragments change what they make of the same bytes.
INGEST_VERSION = 1


def recipe() -> str:
    """Names how documents become chunks; pages made by another recipe are read again."""
    parts = (INGEST_VERSION, conf().chunk_target_words, conf().chunk_max_words)
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def digest(fetched: Fetched) -> str:
    """Equal for equal documents: what the parser sees, and nothing else."""
    head = f"{fetched.media_type}\n{fetched.charset or ''}\n{fetched.url}\n"
    return hashlib.sha256(head.encode() + fetched.body).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """One stored page, without its text and links."""

    page_id: int
    url: str
    fetched_url: str
    canonical_url: str
    note: str
    media_type: str
    etag: str
    last_modified: str
    content_hash: str
    recipe: str
    linked_from: str


FIELDS = tuple(name for name in Remembered.__slots__ if name != "page_id")


class Ledger:
    """The pages of one site as they were when its sync began."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.recipe = recipe()
        rows = Page.objects.filter(site=site).values_list("pk", *FIELDS).order_by("pk")
        self._by_fetched: dict[str, Remembered] = {}
        self._by_url: dict[str, Remembered] = {}
        self._duplicates: dict[str, list[int]] = {}
        for pk, *values in rows.iterator():
            page = Remembered(page_id=pk, **dict(zip(FIELDS, values, strict=True)))
            self._by_fetched[page.fetched_url] = page
            self._by_url[page.url] = page
            if page.canonical_url:
                self._duplicates.setdefault(page.canonical_url, []).append(page.page_id)

    def __len__(self) -> int:
        return len(self._by_url)

    def fetched_at(self, url: str) -> Remembered | None:
        return self._by_fetched.get(url)

    def stored_at(self, url: str) -> Remembered | None:
        return self._by_url.get(url)

    def duplicates_of(self, url: str) -> list[int]:
        return self._duplicates.get(url, [])

    def known(self) -> Mapping[str, Known]:
        """For conditional requests. A page of another recipe is fetched whole."""
        shared: dict[str, str] = {}  # most links stand on many pages
        fields = ("fetched_url", "etag", "last_modified", "links")
        rows = Page.objects.filter(site=self.site, recipe=self.recipe).values_list(*fields)
        return {
            url: Known(
                etag=etag,
                last_modified=modified,
                links=tuple(shared.setdefault(link, link) for link in links),
            )
            for url, etag, modified, links in rows.iterator(chunk_size=200)
        }

    def absent(self, seen: set[int]) -> set[int]:
        """The pages that a complete crawl did not meet."""
        return {page.page_id for page in self._by_url.values()} - seen
