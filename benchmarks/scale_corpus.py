"""As many passages as wanted, made of real ones: half of one, half of another, the vector between.

Real passages come from documentation and from a BEIR folder and are embedded once by the default
embedder. Passage n is the same in every run. Above: scale.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from retrieval.ingest.base import Passage

FOLDERS = ("python3*/html", "postgresql-doc-*/html")
POOL = 3_000  # real passages
WORDS = range(60, 201)
NOISE = 0.5  # length of the random part of a vector, the real part's being 1


@dataclass(frozen=True, slots=True)
class Pool:
    texts: list[str]
    sections: list[tuple[str, ...]]
    vectors: NDArray[np.float32]

    def parts(self, number: int) -> tuple[int, int, float]:
        """Of which two passages number n is made, and the share of the first one's meaning."""
        chance = random.Random(number)
        return chance.randrange(len(self.texts)), chance.randrange(len(self.texts)), chance.random()

    def passage(self, number: int) -> Passage:
        from retrieval.ingest.base import Passage

        one, other, _ = self.parts(number)
        first, second = self.texts[one].split(" "), self.texts[other].split(" ")
        halves = first[: len(first) // 2], second[len(second) // 2 :]
        return Passage(text="\n".join(map(" ".join, halves)), section=self.sections[one])

    def embedded(self, numbers: Sequence[int]) -> NDArray[np.float32]:
        """Unit vectors of these passages."""
        dimension = self.vectors.shape[1]
        mixed = np.empty((len(numbers), dimension), np.float32)
        for row, number in enumerate(numbers):
            one, other, share = self.parts(number)
            noise = np.random.default_rng(number).standard_normal(dimension, dtype=np.float32)
            noise *= NOISE / float(np.linalg.norm(noise))
            real = share * self.vectors[one] + (1 - share) * self.vectors[other]
            mixed[row] = real / np.linalg.norm(real) + noise
        mixed /= np.linalg.norm(mixed, axis=1, keepdims=True)
        return mixed


def pool(cache: Path, beir: Path | None) -> Pool:
    """Read and embed the real passages, or take them from an earlier run."""
    if not cache.exists():
        found = sorted(set(_real(beir)))
        chosen = random.Random(0).sample(found, min(POOL, len(found)))
        texts = [text for _, text in chosen]
        sections = np.array([" › ".join(section) for section, _ in chosen])
        np.savez(cache, texts=np.array(texts), sections=sections, vectors=_embedded(texts))
    stored = np.load(cache)
    return Pool(
        [str(text) for text in stored["texts"]],
        [tuple(str(path).split(" › ")) for path in stored["sections"]],
        stored["vectors"],
    )


def _real(beir: Path | None) -> Iterator[tuple[tuple[str, ...], str]]:
    from retrieval.ingest.base import Block, BlockKind, Document, Fetched
    from retrieval.ingest.chunk import passages
    from retrieval.ingest.parse import parse

    documents: list[Document] = []
    if beir is not None:
        from benchmarks.corpora import read_beir

        for title, text in read_beir(beir).documents.values():
            block = Block(kind=BlockKind.PARAGRAPH, text=text, section=(title,), anchor=None)
            documents.append(Document(title=title, blocks=(block,)))
    base = Path("/usr/share/doc")
    for path in (file for name in FOLDERS for file in base.glob(f"{name}/**/*.html")):
        url = f"https://scale.example/{path.name}"
        fetched = Fetched(
            url=url,
            requested_url=url,
            media_type="text/html",
            charset="utf-8",
            body=path.read_bytes(),
        )
        parsed = parse(fetched)
        if isinstance(parsed, Document):
            documents.append(parsed)
    for document in documents:
        for passage in passages(replace(document, visible=None)):  # fragments are not looked for
            if len(passage.text.split()) in WORDS:
                yield passage.section or (document.title or "",), passage.text


def _embedded(texts: list[str]) -> NDArray[np.float32]:
    from retrieval.embedding import embedder

    model = embedder()
    assert model is not None, "the default embedder is needed"
    batches = (texts[start : start + 128] for start in range(0, len(texts), 128))
    return np.concatenate([model.embed_passages(batch) for batch in batches])
