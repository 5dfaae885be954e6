"""An index with vectors of a tiny embedder, searched by the real pipeline."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from unittest import mock

import pytest

from retrieval.index import sparse_index
from retrieval.index.vectors import fill_vectors
from retrieval.models import Chunk, Page
from tests.factories import ChunkFactory, PageFactory
from tests.retrieval.embedders import HashEmbedder

Index = Callable[..., list[Chunk]]
PLACES = ("pipeline.transform", "pipeline.recall", "index.vectors")


@pytest.fixture
def model(db: None) -> Iterator[HashEmbedder]:
    model = HashEmbedder()
    with ExitStack() as stack:
        for place in PLACES:
            stack.enter_context(mock.patch(f"retrieval.{place}.embedder", lambda: model))
        yield model


@pytest.fixture
def page(db: None) -> Page:
    return PageFactory.create(title="Guide", url="https://docs.example/guide", language="en")


@pytest.fixture
def index(model: HashEmbedder, page: Page) -> Index:
    """Store texts, by default as chunks of one page, and embed them."""

    def store(*texts: str, vectors: bool = True, apart: bool = False) -> list[Chunk]:
        chunks = [
            ChunkFactory.create(
                page=PageFactory.create(language="en", title="Page") if apart else page, text=text
            )
            for text in texts
        ]
        sparse_index().add(chunks, languages=[chunk.page.language for chunk in chunks])
        if vectors:
            fill_vectors()
        return chunks

    return store
