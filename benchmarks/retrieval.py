"""How well and how fast the product finds: nDCG@10, recall and latency over a test collection.

    .venv/bin/python benchmarks/retrieval.py FOLDER [--keep DIR]     BEIR layout
    .venv/bin/python benchmarks/retrieval.py xquad.en.json           SQuAD layout
    .venv/bin/python benchmarks/retrieval.py FOLDER --postgres       on PostgreSQL with pgvector

Everything is the product's own: chunks, store, index, the pipeline with its defaults. A document
counts by its best chunk.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass
from math import log2
from pathlib import Path
from statistics import fmean, quantiles
from typing import Any

sys.path[0] = str(Path(__file__).resolve().parent.parent)  # `retrieval` is the package, not this

from benchmarks.corpora import (  # noqa: E402
    Corpus,
    document_id,
    index,
    prepare,
    read_beir,
    read_xquad,
)
from tests.postgres import postgres_server  # noqa: E402

DEPTH = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    ndcg: float
    recall_10: float
    recall_all: float
    milliseconds: tuple[float, ...]

    def __str__(self) -> str:
        cuts = quantiles(self.milliseconds, n=20)
        return (
            f"nDCG@10 {self.ndcg:.4f}  recall@10 {self.recall_10:.4f}  "
            f"recall@{DEPTH} {self.recall_all:.4f}  p50 {cuts[9]:.1f} ms  p95 {cuts[18]:.1f} ms"
        )


def main() -> None:
    options = arguments()
    with ExitStack() as stack:
        scratch = options.keep or stack.enter_context(tempfile.TemporaryDirectory())
        database = None
        if options.postgres:
            server = postgres_server(Path(scratch) / "postgres", keep=True)
            database = stack.enter_context(server)
        prepare(Path(scratch), database=database)
        corpus = read(options.source, options.language)
        started = time.perf_counter()
        index(corpus, vectors=not options.no_vectors)
        report(corpus, time.perf_counter() - started)
        print(f"BM25    {measure(corpus, mode='sparse')}")
        if not options.no_vectors:
            print(f"dense   {measure(corpus, mode='dense')}")
            print(f"hybrid  {measure(corpus, mode='hybrid')}")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("source", type=Path, metavar="FOLDER|FILE")
    parser.add_argument("--language", default="en", help="of a BEIR collection")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="where the database stays")
    parser.add_argument("--postgres", action="store_true", help="start one; default: SQLite")
    parser.add_argument("--no-vectors", action="store_true", help="lexical search alone")
    return parser.parse_args()


def read(source: Path, language: str) -> Corpus:
    return read_beir(source, language=language) if source.is_dir() else read_xquad(source)


def report(corpus: Corpus, seconds: float) -> None:
    from retrieval.models import Chunk, Embedding, Posting, Segment

    print(
        f"{len(corpus.documents)} documents, {Chunk.objects.count()} chunks, "
        f"{Embedding.objects.count()} vectors, {Segment.objects.count()} segments, "
        f"{Posting.objects.count()} postings, {len(corpus.queries)} queries; "
        f"indexed in {seconds:.1f} s"
    )


def measure(corpus: Corpus, *, mode: str) -> Measured:
    """Of 10 hits with everything at its default; recall at depth 100 of a second search."""
    from retrieval.services import search
    from retrieval.types import Mode, Query, Unit

    options: dict[str, Any] = {"mode": Mode(mode), "unit": Unit.DOCUMENT}
    top: dict[str, list[str]] = {}
    deep: dict[str, list[str]] = {}
    milliseconds: list[float] = []
    for text in list(corpus.queries.values())[:10]:
        search(Query(text=text, **options))  # what is cached is warm
    for id_, text in corpus.queries.items():
        started = time.perf_counter()
        found = search(Query(text=text, k=10, **options))
        milliseconds.append((time.perf_counter() - started) * 1000)
        top[id_] = [document_id(hit.url) for hit in found.hits]
    for id_, text in corpus.queries.items():
        found = search(Query(text=text, k=DEPTH, mmr_lambda=1.0, **options))
        deep[id_] = [document_id(hit.url) for hit in found.hits]
    return Measured(
        ndcg=fmean(ndcg(top[id_], corpus.relevant[id_]) for id_ in top),
        recall_10=fmean(recall(top[id_], corpus.relevant[id_]) for id_ in top),
        recall_all=fmean(recall(deep[id_], corpus.relevant[id_]) for id_ in deep),
        milliseconds=tuple(milliseconds),
    )


def ndcg(ranking: list[str], relevant: dict[str, int], k: int = 10) -> float:
    gained = sum(
        relevant.get(document, 0) / log2(place + 2) for place, document in enumerate(ranking[:k])
    )
    grades = sorted(relevant.values(), reverse=True)[:k]
    return gained / sum(grade / log2(place + 2) for place, grade in enumerate(grades))


def recall(ranking: list[str], relevant: dict[str, int]) -> float:
    return len(relevant.keys() & set(ranking)) / len(relevant)


if __name__ == "__main__":
    main()
