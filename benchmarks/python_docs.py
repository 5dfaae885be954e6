"""How fast and how well the product answers from a documentation site, served here on loopback.

    apt-get install -y python3-doc
    .venv/bin/python benchmarks/python_docs.py [FOLDER] [--keep DIR] [--no-vectors]

Serves the folder, syncs it into a scratch database, asks the questions of
python_docs_questions.json through the whole answer path, then syncs again. The pages and phrases
there were written before any answer was seen; `accepted_after_reading` lists further sentences that
answer, and is counted apart.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from retrieval.ingest.summary import Summary

HERE = Path(__file__).resolve().parent
FOLDERS = (
    Path("/usr/share/doc/python3/html"),
    *sorted(Path("/usr/share/doc").glob("python3*/html"), reverse=True),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One question's outcome. `rank`: of the first expected page among the sources, from 1."""

    question: str
    rank: int | None
    answers: bool  # with a phrase written beforehand
    accepted: bool  # so, or with a sentence that was judged to answer when it was read
    sources: tuple[str, ...]
    text: str
    seconds: float


def main() -> None:
    options = arguments()
    with contextlib.ExitStack() as stack:
        scratch = options.keep or stack.enter_context(tempfile.TemporaryDirectory())
        prepare(Path(scratch))
        address = stack.enter_context(serving(options.folder))
        questions = json.loads(options.questions.read_text())
        first = first_sync(address, vectors=not options.no_vectors)
        asked = [ask(one, address) for one in questions]
        report_questions(asked)
        second_sync(address, first, vectors=not options.no_vectors)
        report_memory()


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    found = next((folder for folder in FOLDERS if (folder / "index.html").exists()), None)
    parser.add_argument("folder", nargs="?", type=Path, default=found)
    parser.add_argument("--keep", metavar="DIR", help="where the scratch database stays")
    parser.add_argument("--no-vectors", action="store_true", help="lexical search alone")
    parser.add_argument(
        "--questions", type=Path, default=HERE / "python_docs_questions.json", metavar="FILE"
    )
    options = parser.parse_args()
    if options.folder is None or not (options.folder / "index.html").exists():
        parser.error("there is no such documentation; try: apt-get install -y python3-doc")
    return options


def prepare(scratch: Path) -> None:
    """Django on a scratch database. Run before anything of the product is imported."""
    os.environ["FASTRAG_VAR_DIR"] = str(scratch)
    os.environ.pop("DATABASE_URL", None)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "fastrag_site.settings")
    sys.path.insert(0, str(HERE.parent))
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)


@contextlib.contextmanager
def serving(folder: Path) -> Iterator[str]:
    """A threaded static server with Last-Modified, in a process of its own."""
    command = [sys.executable, "-u", "-m", "http.server", "0", "--bind", "127.0.0.1"]
    server = subprocess.Popen(
        [*command, "--protocol", "HTTP/1.1", "--directory", str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert server.stdout is not None
        announced = re.search(r"port (\d+)", server.stdout.readline())
        assert announced is not None, "the static server did not start"
        yield f"http://127.0.0.1:{announced[1]}/"
    finally:
        server.terminate()
        server.wait(timeout=10)


def first_sync(address: str, *, vectors: bool) -> float:
    """Everything from nothing; returns its seconds."""
    from retrieval.ingest import sync
    from retrieval.ingest.vectorise import vectors_fill

    before = time.process_time()
    summary = sync([address], vectors=False)
    spent = time.process_time() - before
    (site,) = summary.sites
    print(f"first sync: {line(summary)}")
    for reason, count in site.skipped.items():
        print(f"  skipped {count}: {reason}, such as {site.examples[reason][0]}")
    rate = site.new / summary.seconds
    print(f"  searchable by BM25: {rate:.1f} pages/s; {spent:.1f} s of this process at work")
    seconds = summary.seconds
    if vectors:
        started = time.monotonic()
        embedded, notes = vectors_fill(show_vectors)
        spent = time.monotonic() - started
        print(
            f"  vectors: {embedded} chunks, {embedded / spent:.1f} chunks/s, {spent:.1f} s", *notes
        )
        seconds += spent
    return seconds


def show_vectors(progress: Any) -> None:
    if sys.stderr.isatty():
        print(f"\r{progress.done}/{progress.total}", end="", file=sys.stderr)


def second_sync(address: str, first: float, *, vectors: bool) -> None:
    from retrieval.ingest import sync

    summary = sync([address], vectors=vectors)
    share = summary.seconds / first
    print(f"second sync: {line(summary)}")
    print(f"  {summary.embedded} embeddings computed; {share:.1%} of the first run's time")


def line(summary: Summary) -> str:
    (site,) = summary.sites
    text = (
        f"{site.fetched} fetched, {site.new} new, {site.changed} changed, "
        f"{site.unchanged} unchanged, {site.pruned} pruned, {sum(site.skipped.values())} skipped, "
        f"{site.chunks} chunks, {summary.seconds:.1f} s"
    )
    return f"{text} FAILED: {site.failure}" if site.failure else text


def ask(case: dict[str, Any], address: str) -> Asked:
    """One question through the whole answer path, as a new chat."""
    started = time.monotonic()
    sources, text = asyncio.run(answered(case["question"]))
    pages = [url.removeprefix(address) for url in sources]
    ranks = (rank for rank, page in enumerate(pages, 1) if page in case["pages"])
    return Asked(
        question=case["question"],
        rank=next(ranks, None),
        answers=holds_any(text, case["phrases"]),
        accepted=holds_any(text, [*case["phrases"], *case.get("accepted_after_reading", ())]),
        sources=tuple(pages),
        text=text,
        seconds=time.monotonic() - started,
    )


def holds_any(text: str, phrases: Iterable[str]) -> bool:
    return any(phrase.lower() in text.lower() for phrase in phrases)


async def answered(question: str) -> tuple[list[str], str]:
    from asgiref.sync import sync_to_async

    from chats.answering import begin
    from chats.events import Delta, Sources
    from chats.handover import one_by_one
    from fastrag_site.owners import Owner

    sources: list[str] = []
    text = ""
    begun = await sync_to_async(begin)(owner=Owner(session_key="benchmark"), question=question)
    async with contextlib.aclosing(one_by_one(begun)) as events:
        async for event in events:
            if isinstance(event, Sources):
                sources = [source.url for source in event.sources]
            elif isinstance(event, Delta):
                text += event.text
    return sources, text


def report_questions(asked: list[Asked]) -> None:
    for one in asked:
        where = f"page {one.rank}" if one.rank else "NOT FOUND"
        quoted = "answers" if one.accepted else "DOES NOT ANSWER"
        print(f"\n{one.question}  [{where}; {quoted}; {one.seconds * 1000:.0f} ms]")
        print(f"  {', '.join(one.sources)}")
        print(f"  {' '.join(one.text.split())[:600]}")
    total = len(asked)
    print(f"\nright page among the sources: {sum(one.rank is not None for one in asked)}/{total}")
    print(f"right page first: {sum(one.rank == 1 for one in asked)}/{total}")
    beforehand, accepted = (sum(one.answers for one in asked), sum(one.accepted for one in asked))
    print(f"a quoted sentence answers: {beforehand}/{total}, with those judged later {accepted}")


def report_memory() -> None:
    """Upper bound: this process at its peak plus its largest child at its peak."""
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    child = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"peak memory: {own:.0f} MiB here, {child:.0f} MiB in the largest child process")


if __name__ == "__main__":
    main()
