"""Reads of what is indexed, for those who cite it. Below: models, trust. Above: chats' admin."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from retrieval.models import Chunk
from retrieval.trust import injection_suspected
from retrieval.types import Fragment

MOST_CHUNKS = 1_000  # that are read


def suspected_pages(urls: Collection[str]) -> list[str]:
    """Those of these pages in which a passage reads like instructions to a language model."""
    rows = Chunk.objects.filter(page__url__in=urls).order_by("page_id", "position")
    texts = rows.values_list("page__url", "text")[:MOST_CHUNKS]
    return sorted({url for url, text in texts if injection_suspected(text)})


def passages_at(url: str, fragments: Sequence[Fragment]) -> list[str]:
    """The text of each passage of a page, where the page still has it. Chunks that follow each
    other may be one passage, from the start of the first to the end of the last.
    """
    chunks = list(Chunk.objects.filter(page__url=url).order_by("position")[:MOST_CHUNKS])
    found: list[str] = []
    for fragment in fragments:
        starts = (place for place, c in enumerate(chunks) if c.fragment_start == fragment.start)
        first = next(starts, len(chunks))
        ends = (place for place, c in enumerate(chunks) if _end_of(c) == _end_of(fragment))
        last = next((place for place in ends if place >= first), None)
        if last is not None:
            found.append("\n".join(chunk.text for chunk in chunks[first : last + 1]))
    return found


def _end_of(passage: Chunk | Fragment) -> str:
    """A short passage is all start."""
    if isinstance(passage, Fragment):
        return passage.end or passage.start
    return passage.fragment_end or passage.fragment_start
