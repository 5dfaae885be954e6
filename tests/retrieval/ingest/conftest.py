"""What the sync tests run against."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.conf import LazySettings

from retrieval.ingest import syncing
from tests.retrieval.ingest.sync_support import CountingEmbedder, Web


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> Web:
    web = Web()
    monkeypatch.setattr(syncing, "crawl", web.crawl)
    return web


@pytest.fixture
def embedded(settings: LazySettings) -> Iterator[list[str]]:
    path = f"{CountingEmbedder.__module__}.{CountingEmbedder.__qualname__}"
    settings.FASTRAG = {**settings.FASTRAG, "EMBEDDER": {"BACKEND": path}}
    CountingEmbedder.embedded.clear()
    yield CountingEmbedder.embedded
    CountingEmbedder.embedded.clear()
