"""Values that the ingest steps hand to each other. A leaf.

crawl → Fetched → html | markdown | pdf → Document → chunk (+ fragments) → Passage → store
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from retrieval.types import Fragment


class BlockKind(StrEnum):
    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST_ITEM = "list_item"
    TERM = "term"  # what a definition list defines
    TABLE_CELL = "table_cell"
    CODE = "code"


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What an earlier sync remembers of a page; a 304 brings no body, so its links stand here."""

    etag: str = ""
    last_modified: str = ""
    links: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlRequest:
    """What to fetch. `trusted_host`: the host that the operator named may be private."""

    kind: str  # Site.Kind value: site, sitemap, url
    location: str
    depth: int
    max_pages: int
    trusted_host: str | None = None
    known: Mapping[str, Known] = field(default_factory=dict)  # by normalised URL


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlEnd:
    """Always the last item of a crawl.

    `complete`: every reachable page was tried, so pages that were not seen are gone.
    `failure`: why the crawl as a whole failed (start page unreachable, robots.txt 5xx …).
    """

    complete: bool
    failure: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """One successful fetch, after redirects. `not_modified`: 304, body empty."""

    url: str  # final URL, normalised, without fragment
    requested_url: str
    media_type: str  # lower case, without parameters
    charset: str | None  # as the header declared it
    body: bytes  # decoded from content encodings, capped
    etag: str = ""
    last_modified: str = ""
    noindex: bool = False  # by X-Robots-Tag
    not_modified: bool = False
    linked_from: str | None = None  # page of the same site that led here
    depth: int = 0
    # What a crawl may follow from here, all of this host: the value for Known.links.
    links: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A document that was not indexed, with the reason an operator can act on."""

    url: str
    reason: str  # a short constant phrase, such as "robots.txt disallows"
    gone: bool = False  # 404 or 410 or noindex: an earlier copy is pruned
    transient: bool = False  # 5xx, time-out: an earlier copy is kept


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One rendered block: its text is what a browser's find would see inside one block."""

    kind: BlockKind
    text: str  # verbatim characters; white space collapsed as rendered
    section: tuple[str, ...]  # heading path, outermost first (a heading's own text included)
    anchor: str | None  # nearest id that a link can jump to
    # Where it stands in Document.visible: index of the rendered block, and how many characters
    # other than white space precede it there (0 but for a piece of a long block).
    visible_at: int | None = None
    ink: int = 0
    joined: bool = False  # belongs to the block before: a cell to its row, a definition to its term


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A parsed page."""

    title: str | None
    site_name: str | None = None
    favicon_url: str | None = None
    language: str = ""
    canonical_url: str | None = None
    noindex: bool = False
    nofollow: bool = False
    blocks: tuple[Block, ...] = ()
    # Every block of the page in order, menus and footers included: a fragment's first match
    # is decided over all that the browser shows. None for documents without fragments (PDF).
    visible: tuple[str, ...] | None = None
    links: tuple[str, ...] = ()  # absolute, http(s), without fragment


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A chunk before it is stored."""

    text: str
    section: tuple[str, ...] = ()
    anchor: str | None = None
    fragment: Fragment | None = None
    blocks: tuple[Block, ...] = field(default=(), repr=False)
