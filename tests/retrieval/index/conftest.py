"""Chunks with text, indexed as the store does it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.db import transaction

from retrieval.index.postings import PostingsIndex
from retrieval.models import Chunk, Page
from tests.factories import ChunkFactory, PageFactory

Add = Callable[..., list[Chunk]]


@pytest.fixture
def index() -> PostingsIndex:
    """One of its own, so that nothing is cached."""
    return PostingsIndex()


@pytest.fixture
def page(db: None) -> Page:
    return PageFactory.create(title="Guide")


@pytest.fixture
def add(index: PostingsIndex, page: Page) -> Add:
    """Store these texts as one batch."""

    def store(*texts: str, language: str = "en") -> list[Chunk]:
        with transaction.atomic():
            chunks = [ChunkFactory.create(page=page, text=text) for text in texts]
            index.add(chunks, languages=[language] * len(chunks))
        return chunks

    return store
