"""A guard on real questions, by words alone; benchmarks/retrieval.py measures the whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.corpora import read_xquad
from retrieval.index.postings import PostingsIndex
from tests.factories import ChunkFactory, PageFactory

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "xquad"
QUESTIONS = 120

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(not DATA.is_dir(), reason="the collection is not here"),
]


@pytest.mark.parametrize(
    ("language", "least"),
    [("en", 0.9), ("es", 0.9), ("ru", 0.88), ("ar", 0.86), ("th", 0.85), ("zh", 0.9)],
)
def test_the_paragraph_that_answers_comes_first(language: str, least: float) -> None:
    corpus = read_xquad(DATA / f"xquad.{language}.json")
    page = PageFactory.create(title="", language=language)
    chunks = {
        id_: ChunkFactory.create(page=page, text=text)
        for id_, (_, text) in corpus.documents.items()
    }
    index = PostingsIndex()
    index.add(list(chunks.values()), languages=[language] * len(chunks))
    asked = list(corpus.queries.items())[:: len(corpus.queries) // QUESTIONS]
    first = [
        index.search(text, language="", k=1)[0].chunk_id
        == chunks[next(iter(corpus.relevant[id_]))].pk
        for id_, text in asked
    ]
    assert sum(first) / len(first) >= least
