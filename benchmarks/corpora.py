"""Test collections for the benchmarks: read from files, indexed by the product itself.

A collection lives in a scratch database; kept, it is indexed once.
"""

from __future__ import annotations

import csv
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from retrieval.ingest.store import PageWrite

ROOT = Path(__file__).resolve().parent.parent
BASE = "https://collection.example/"


@dataclass(frozen=True, slots=True)
class Corpus:
    """`documents`: id → (title, text). `relevant`: query id → document id → grade."""

    language: str
    documents: dict[str, tuple[str, str]]
    queries: dict[str, str]
    relevant: dict[str, dict[str, int]]


def prepare(scratch: Path, *, database: str | None = None) -> None:
    """Django on a scratch database. Run before anything of the product is imported."""
    os.environ["FASTRAG_VAR_DIR"] = str(scratch)
    os.environ.pop("DATABASE_URL", None)
    if database is not None:
        os.environ["DATABASE_URL"] = database
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "fastrag_site.settings")
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)


def read_beir(folder: Path, *, language: str = "en") -> Corpus:
    """corpus.jsonl, queries.jsonl, qrels_test.tsv."""
    documents = {
        row["_id"]: (row.get("title", ""), row["text"]) for row in _lines(folder / "corpus.jsonl")
    }
    relevant: dict[str, dict[str, int]] = {}
    with (folder / "qrels_test.tsv").open(newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            if (grade := int(row["score"])) > 0:
                relevant.setdefault(row["query-id"], {})[row["corpus-id"]] = grade
    asked = {row["_id"]: row["text"] for row in _lines(folder / "queries.jsonl")}
    return Corpus(language, documents, {id_: asked[id_] for id_ in relevant}, relevant)


def read_xquad(path: Path) -> Corpus:
    """A SQuAD-style file: every paragraph is a document, every question has one."""
    articles = json.loads(path.read_text(encoding="utf-8"))["data"]
    documents: dict[str, tuple[str, str]] = {}
    queries: dict[str, str] = {}
    relevant: dict[str, dict[str, int]] = {}
    for paragraph in (part for article in articles for part in article["paragraphs"]):
        id_ = str(len(documents))
        documents[id_] = ("", paragraph["context"])
        for question in paragraph["qas"]:
            queries[question["id"]] = question["question"]
            relevant[question["id"]] = {id_: 1}
    return Corpus(path.suffixes[0].lstrip("."), documents, queries, relevant)


def index(corpus: Corpus, *, vectors: bool) -> None:
    """Chunk and store every document, then fill the vectors. Nothing where that was done before."""
    from retrieval.index import sparse_index
    from retrieval.index.vectors import fill_vectors
    from retrieval.ingest.store import pages_store
    from retrieval.models import Page, Site

    if Page.objects.count() != len(corpus.documents):
        site, _ = Site.objects.get_or_create(location=BASE)
        batch: list[PageWrite] = []
        for write in _writes(corpus):
            batch.append(write)
            if len(batch) == 50:
                pages_store(site, batch)
                batch = []
        pages_store(site, batch)
        sparse_index().optimize()
    if vectors:
        fill_vectors(progress=_show)


def document_id(url: str) -> str:
    return url.removeprefix(BASE)


def _writes(corpus: Corpus) -> Iterator[PageWrite]:
    from retrieval.ingest.base import Block, BlockKind, Document, Fetched
    from retrieval.ingest.chunk import passages
    from retrieval.ingest.store import PageWrite

    for id_, (title, text) in corpus.documents.items():
        block = Block(kind=BlockKind.PARAGRAPH, text=text, section=(), anchor=None)
        document = Document(title=title or None, language=corpus.language, blocks=(block,))
        fetched = Fetched(
            url=BASE + id_,
            requested_url=BASE + id_,
            media_type="text/plain",
            charset="utf-8",
            body=b"",
        )
        yield PageWrite(
            url=BASE + id_,
            fetched=fetched,
            content_hash="",
            recipe="",
            document=document,
            passages=tuple(passages(document)),
        )


def _lines(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def _show(done: int, total: int) -> None:
    if sys.stderr.isatty():
        print(f"\rvectors {done}/{total}", end="", file=sys.stderr)
