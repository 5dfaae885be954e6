"""The indexed pages of a site with their passages, and the links that an answer would cite them by.

Above: fragments. The links come from the product's own code, as for hits of a search.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from retrieval.models import Chunk
    from retrieval.types import Hit


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedPage:
    """`hits`: all of its passages in their order, as a search would return each of them."""

    url: str
    hits: tuple[Hit, ...]

    @property
    def is_web(self) -> bool:
        """A PDF has passages without fragments: browsers do not search it for a text."""
        return self.hits[0].media_type != "application/pdf"


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """`cited`: for each text of the link, the first and the last passage that it stands for."""

    href: str
    page: IndexedPage
    cited: tuple[tuple[int, int], ...]


def pages_of(address: str, *, at: str) -> list[IndexedPage]:
    """Those indexed under an address, as they are served at another one."""
    from retrieval.models import Chunk

    chunks = Chunk.objects.filter(page__url__startswith=address).select_related("page")
    ordered = chunks.order_by("page_id", "position").iterator()
    return [
        IndexedPage(url=url.replace(address, at, 1), hits=tuple(map(_hit, found)))
        for url, found in groupby(ordered, key=lambda chunk: chunk.page.url)
    ]


def single_links(pages: Sequence[IndexedPage], count: int, random: Random) -> list[Link]:
    """Links to passages drawn from all; those without a fragment have no link."""
    drawn = _draw([(page, at) for page in pages for at in range(len(page.hits))], count, random)
    return [link for page, at in drawn if (link := _link(page, [at])) is not None]


def joint_links(pages: Sequence[IndexedPage], count: int, random: Random) -> list[Link]:
    """Links to several passages of one page: two that follow each other, and up to two others."""
    long = [page for page in pages if len(page.hits) > 2]
    drawn = _draw([(page, at) for page in long for at in range(len(page.hits) - 1)], count, random)
    links = []
    for page, at in drawn:
        others = random.sample(range(len(page.hits)), 2)
        link = _link(page, sorted({at, at + 1, *others}))
        if link is not None:
            links.append(link)
    return links


def _draw(
    of: Sequence[tuple[IndexedPage, int]], count: int, random: Random
) -> list[tuple[IndexedPage, int]]:
    """Neighbours on a page come one after the other, so that the browser's cache helps."""
    return [of[at] for at in sorted(random.sample(range(len(of)), min(count, len(of))))]


def _link(page: IndexedPage, positions: Iterable[int]) -> Link | None:
    from chats.sources import sources_from
    from retrieval.ingest.fragments import directive

    hits = [page.hits[at] for at in positions]
    (source,) = sources_from(hits)
    if not source.fragments:
        return None
    cited = []
    for fragment in source.fragments:
        starting = [hit for hit in hits if hit.fragment and hit.fragment.start == fragment.start]
        last = fragment.end or fragment.start
        ending = [hit for hit in hits if hit.fragment and _last(hit) == last]
        at = starting[0].position
        cited.append((at, next(hit.position for hit in ending if hit.position >= at)))
    return Link(href=f"{page.url}#{directive(source.fragments)}", page=page, cited=tuple(cited))


def _last(hit: Hit) -> str:
    assert hit.fragment is not None
    return hit.fragment.end or hit.fragment.start


def _hit(chunk: Chunk) -> Hit:
    from retrieval.types import Fragment, Hit, Scores

    found = bool(chunk.fragment_start)
    return Hit(
        chunk_id=chunk.pk,
        page_id=chunk.page_id,
        url=chunk.page.url,
        title=chunk.page.title,
        site_name=chunk.page.site_name,
        favicon_url=chunk.page.favicon_url,
        media_type=chunk.page.media_type,
        language=chunk.page.language,
        section=tuple(chunk.section),
        anchor=chunk.anchor or None,
        position=chunk.position,
        text=chunk.text,
        fragment=Fragment(start=chunk.fragment_start, end=chunk.fragment_end or None)
        if found
        else None,
        score=1.0,
        confidence=1.0,
        scores=Scores(),
    )
