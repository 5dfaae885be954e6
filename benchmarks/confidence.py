"""Does confidence tell questions that the pages answer from those that they do not?

    .venv/bin/python benchmarks/confidence.py xquad.en.json [--without 5] [--no-vectors]
    .venv/bin/python benchmarks/confidence.py FOLDER                       BEIR layout
    .venv/bin/python benchmarks/confidence.py --docs DIR                   Python's documentation

A collection is asked each question twice: as it is, and without the documents that answer it
(`--without 5`: in XQuAD the other paragraphs of the article go, too). `--docs` is a database that
benchmarks/python_docs.py --keep DIR has left; its questions are in confidence_questions.json.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parent.parent)  # `retrieval` is the package

from benchmarks.corpora import (  # noqa: E402
    BASE,
    Corpus,
    index,
    prepare,
    read_beir,
    read_xquad,
)

QUESTIONS = Path(__file__).with_name("confidence_questions.json")
THRESHOLDS = (0.1, 0.3, 0.4, 0.5, 0.6, 0.7, 0.9)


@dataclass(frozen=True, slots=True)
class Asked:
    """One question. `right`: the passage that confidence speaks of is on a page that answers."""

    answerable: bool
    confidence: float
    right: bool


def main() -> None:
    options = arguments()
    with ExitStack() as stack:
        scratch = options.docs or options.keep
        prepare(Path(scratch or stack.enter_context(tempfile.TemporaryDirectory())))
        if options.docs:
            asked = list(ask_docs(sparse=options.no_vectors))
        else:
            source = options.source
            corpus = read_beir(source) if source.is_dir() else read_xquad(source)
            index(corpus, vectors=not options.no_vectors)
            asked = list(
                ask_collection(corpus, options.sample, options.without, sparse=options.no_vectors)
            )
    report(asked)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("source", nargs="?", type=Path, metavar="FOLDER|FILE")
    parser.add_argument("--docs", metavar="DIR", help="a database of Python's documentation")
    parser.add_argument("--keep", metavar="DIR", help="where the collection's database stays")
    parser.add_argument("--sample", type=int, default=300, help="questions (default: 300)")
    parser.add_argument("--without", type=int, default=1, help="neighbours that go, too")
    parser.add_argument("--no-vectors", action="store_true", help="by words alone")
    options = parser.parse_args()
    if (options.source is None) == (options.docs is None):
        parser.error("name a collection, or --docs DIR")
    return options


def ask_collection(corpus: Corpus, size: int, without: int, *, sparse: bool) -> Iterator[Asked]:
    chosen = random.Random(1).sample(sorted(corpus.queries), min(size, len(corpus.queries)))
    documents = list(corpus.documents)
    for id_ in chosen:
        answers = {BASE + document for document in corpus.relevant[id_]}
        gone = set(answers)
        if without > 1:
            first = documents.index(next(iter(corpus.relevant[id_])))
            start = first - first % without
            gone |= {BASE + document for document in documents[start : start + without]}
        yield ask(corpus.queries[id_], answers, sparse=sparse)
        yield ask(corpus.queries[id_], set(), gone=gone, sparse=sparse)


def ask_docs(*, sparse: bool) -> Iterator[Asked]:
    from retrieval.models import Page

    cases = json.loads(QUESTIONS.read_text())
    urls = list(Page.objects.values_list("url", flat=True))
    for case in cases["answerable"]:
        ends = tuple(f"/{page}" for page in case["pages"])
        yield ask(case["question"], {url for url in urls if url.endswith(ends)}, sparse=sparse)
    for question in cases["unanswerable"]:
        yield ask(question, set(), sparse=sparse)


def ask(question: str, answers: set[str], *, gone: Collection[str] = (), sparse: bool) -> Asked:
    from retrieval.services import search
    from retrieval.types import Mode, Query

    found = search(
        Query(
            text=question,
            mode=Mode.SPARSE if sparse else Mode.HYBRID,
            filter={"field": "url", "op": "nin", "value": sorted(gone)} if gone else None,
        )
    )
    best = max(found.hits, key=lambda hit: hit.confidence, default=None)
    return Asked(
        answerable=bool(answers),
        confidence=found.confidence,
        right=best is not None and best.url in answers,
    )


def report(asked: Sequence[Asked]) -> None:
    answerable = [one for one in asked if one.answerable]
    others = [one for one in asked if not one.answerable]
    print(
        f"{len(answerable)} answerable, {len(others)} not; area under the curve "
        f"{area([one.confidence for one in answerable], [one.confidence for one in others]):.3f}; "
        f"right page most confident: {sum(one.right for one in answerable) / len(answerable):.1%}"
    )
    print("threshold  answered of answerable / of others   abstention precision / recall")
    for threshold in THRESHOLDS:
        kept = sum(one.confidence >= threshold for one in answerable) / len(answerable)
        wrong = sum(one.confidence >= threshold for one in others) / len(others)
        abstained = [one for one in asked if one.confidence < threshold]
        precision = sum(not one.answerable for one in abstained) / max(1, len(abstained))
        print(
            f"{threshold:9.1f}  {kept:22.1%} / {wrong:9.1%}   {precision:19.1%} / {1 - wrong:.1%}"
        )


def area(positive: Sequence[float], negative: Sequence[float]) -> float:
    """The probability that an answerable question has more confidence than another one."""
    wins = sum((p > n) + 0.5 * (p == n) for p in positive for n in negative)
    return wins / (len(positive) * len(negative))


if __name__ == "__main__":
    main()
