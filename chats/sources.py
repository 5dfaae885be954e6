"""Hits → sources: one per page, numbered once in prompt order, with the passages' fragments. Pure.

Below: retrieval.types. Above: answering sends them, prompts numbers passages by them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from chats.events import Source
from retrieval.ingest.fragments import join
from retrieval.types import Fragment, Hit


def sources_from(hits: Sequence[Hit]) -> tuple[Source, ...]:
    """One source for each url, in the order in which the urls first occur; positions from 1."""
    pages: dict[str, list[Hit]] = {}
    for hit in hits:
        pages.setdefault(hit.url, []).append(hit)
    return tuple(
        Source(
            url=url,
            title=page[0].title or url,
            site_name=page[0].site_name,
            favicon_url=page[0].favicon_url,
            positions=(number,),
            fragments=_fragments(page),
        )
        for number, (url, page) in enumerate(pages.items(), start=1)
    )


def numbers_of(sources: Iterable[Source]) -> dict[str, int]:
    """The number that each url is cited by."""
    return {source.url: source.positions[0] for source in sources}


def _fragments(page: Sequence[Hit]) -> tuple[Fragment, ...]:
    """One fragment for each passage, in page order; neighbouring chunks of a section are one."""
    found: list[Fragment] = []
    previous: Hit | None = None
    for hit in sorted(page, key=lambda hit: hit.position):
        if hit.fragment is None:
            continue
        if previous is not None and _continues(previous, hit):
            found[-1] = join(found[-1], hit.fragment)
        elif hit.fragment not in found:
            found.append(hit.fragment)
        previous = hit
    return tuple(found)


def _continues(before: Hit, after: Hit) -> bool:
    return after.position == before.position + 1 and after.section == before.section
