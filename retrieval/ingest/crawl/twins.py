"""Pages that a server shows under two spellings: /a and /a/, / and /index.html. Pure.

Below: urls. Above: the crawl session.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping

from retrieval.ingest.base import Known
from retrieval.ingest.crawl.urls import twin_key


class Twins:
    """Remembers the documents of a crawl, so that the second spelling is told from a new page."""

    def __init__(self, known: Mapping[str, Known]) -> None:
        self._known = known
        self._known_by_key: dict[str, list[str]] = defaultdict(list)
        for url in known:
            self._known_by_key[twin_key(url)].append(url)
        self._digests: dict[tuple[str, bytes], str] = {}

    def known_twin(self, url: str, *, etag: str, last_modified: str) -> str | None:
        """A page of an earlier crawl that is this document, judged by its validators.

        It answers 304 this time, so there is no body to compare.
        """
        if url in self._known:
            return None
        for other in self._known_by_key.get(twin_key(url), ()):
            known = self._known[other]
            if etag and etag == known.etag:
                return other
            if (
                last_modified
                and not etag
                and (last_modified, "")
                == (
                    known.last_modified,
                    known.etag,
                )
            ):
                return other
        return None

    def is_repeated(self, url: str, body: bytes) -> bool:
        """Whether another spelling brought the same bytes in this crawl; else they are noted."""
        key = (twin_key(url), hashlib.blake2b(body, digest_size=16).digest())
        return self._digests.setdefault(key, url) != url
