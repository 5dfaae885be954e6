"""How the search grows: 10,000, 100,000, 1,000,000 passages on PostgreSQL with pgvector.

    .venv/bin/python benchmarks/scale.py --sizes 10000 100000 --questions FOLDER [--keep DIR]

Everything is the product's own: store, BM25, vectors, `reindex`, the pipeline. FOLDER is a BEIR
collection: its queries are asked, its documents are among the real passages. With --keep, a run
that was broken off goes on, and the sizes that are there already are measured only.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

sys.path[0] = str(Path(__file__).resolve().parent.parent)  # `retrieval` is the package, not this

from benchmarks.corpora import prepare, read_beir  # noqa: E402
from benchmarks.scale_corpus import Pool, pool  # noqa: E402
from tests.postgres import postgres_server  # noqa: E402

if TYPE_CHECKING:
    from retrieval.models import Site

BASE = "https://scale.example/"
PAGE = 10  # passages a page
PAGES = 40  # a transaction, as in a sync
VECTORS = 2_000  # a transaction
STEP = 20_000  # passages, between two signs of life
SERVER = {"shared_buffers": "4GB", "maintenance_work_mem": "3GB", "max_wal_size": "16GB"}


def main() -> None:
    options = arguments()
    with ExitStack() as stack:
        scratch = options.keep or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        url = stack.enter_context(postgres_server(scratch / "postgres", keep=True, **SERVER))
        prepare(scratch, database=url)
        from benchmarks.scale_measure import measure

        real = pool(scratch / "pool.npz", options.questions)
        questions = list(read_beir(options.questions).queries.values())[: options.queries]
        for size in options.sizes:
            times = Times(scratch / f"times-{size}.json")
            grow(real, size, times)
            print(json.dumps(measure(questions) | times.all()), flush=True)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--questions", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--queries", type=int, default=300)
    parser.add_argument("--keep", type=Path, metavar="DIR", help="where the database stays")
    return parser.parse_args()


class Times:
    """Seconds a stage, added up over runs that were broken off."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def all(self) -> dict[str, float]:
        found: dict[str, float] = json.loads(self.path.read_text()) if self.path.exists() else {}
        return found

    def add(self, name: str, seconds: float) -> None:
        found = self.all()
        self.path.write_text(json.dumps(found | {name: found.get(name, 0.0) + seconds}))

    def of(self, name: str, call: Callable[[], object]) -> None:
        started = time.perf_counter()
        call()
        self.add(name, time.perf_counter() - started)


def grow(real: Pool, size: int, times: Times) -> None:
    from retrieval.index import dense_index, sparse_index
    from retrieval.models import Chunk, Site

    site, _ = Site.objects.get_or_create(location=BASE)
    while (have := Chunk.objects.count()) < size:
        until = min(size, have + STEP)
        times.of("text", partial(_store, site, real, have, until))
        print(f"{until} passages stored", file=sys.stderr, flush=True)
        if until == size:
            times.of("text", sparse_index().optimize)
    _vectors(real, times)
    times.of("graph", partial(dense_index().rebuild, lambda *_: None))


def _store(site: Site, real: Pool, start: int, end: int) -> None:
    from retrieval.ingest.base import Document, Fetched
    from retrieval.ingest.store import PageWrite, pages_store

    batch: list[PageWrite] = []
    for first in range(start, end, PAGE):
        passages = tuple(real.passage(number) for number in range(first, first + PAGE))
        url = f"{BASE}{first // PAGE}"
        fetched = Fetched(
            url=url, requested_url=url, media_type="text/html", charset="utf-8", body=b""
        )
        title = passages[0].section[0] if passages[0].section else url
        batch.append(
            PageWrite(
                url=url,
                fetched=fetched,
                content_hash="",
                recipe="",
                document=Document(title=title, language="en"),
                passages=passages,
            )
        )
        if len(batch) == PAGES or first + PAGE >= end:
            pages_store(site, batch)
            batch = []


def _vectors(real: Pool, times: Times) -> None:
    """Vectors as a sync would store them, but for the model's time; the graph comes afterwards."""
    from django.db import transaction

    from retrieval.embedding import embedder
    from retrieval.index import dense_index, nearest
    from retrieval.index.vectors import embedder_declare
    from retrieval.models import Chunk

    model = embedder()
    assert model is not None
    embedder_declare(model.identity, model.dimension)
    if Chunk.objects.filter(embedding__isnull=True).exists():
        nearest.index_drop()
    waiting = Chunk.objects.filter(embedding__isnull=True).order_by("pk")
    last = 0
    while batch := list(
        waiting.filter(pk__gt=last).values_list("pk", "page__url", "position")[:VECTORS]
    ):
        started = time.perf_counter()
        last = batch[-1][0]
        numbers = [int(url.removeprefix(BASE)) * PAGE + place for _, url, place in batch]
        vectors = real.embedded(numbers)
        with transaction.atomic():
            dense_index().add([pk for pk, _, _ in batch], vectors)
        times.add("vectors", time.perf_counter() - started)


if __name__ == "__main__":
    main()
