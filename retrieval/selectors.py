"""Reads of what is indexed, for those who cite it. Below: models, trust. Above: chats' admin."""

from __future__ import annotations

from collections.abc import Collection

from retrieval.models import Chunk
from retrieval.trust import injection_suspected

MOST_CHUNKS = 1_000  # that are read


def suspected_pages(urls: Collection[str]) -> list[str]:
    """Those of these pages in which a passage reads like instructions to a language model."""
    rows = Chunk.objects.filter(page__url__in=urls).order_by("page_id", "position")
    texts = rows.values_list("page__url", "text")[:MOST_CHUNKS]
    return sorted({url for url, text in texts if injection_suspected(text)})
