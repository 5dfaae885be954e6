"""Whether follow-ups are searched with what they refer to: conversations over Python's manual.

    apt-get install -y python3-doc
    .venv/bin/python benchmarks/conversation.py --keep DIR                  # the default model
    .venv/bin/python benchmarks/conversation.py --keep DIR --played         # a competent rewriter
    .venv/bin/python benchmarks/conversation.py --keep DIR --raw            # nothing at all
    FASTRAG_CHAT_BASE_URL=… FASTRAG_CHAT_MODEL_NAME=… .venv/bin/python benchmarks/conversation.py …

Asks the turns of conversation_turns.json one after the other in one chat each, through the whole
answer path. `--played` takes the rewritten questions from the same file: no model wrote them.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import sys
import tempfile
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import python_docs

if TYPE_CHECKING:
    from retrieval.types import Query, Retrieved, Stage

TURNS = python_docs.HERE / "conversation_turns.json"
PLAYED = '{"BACKEND": "benchmarks.played_rewriter.PlayedRewriter"}'


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """`rank`: of the first expected page among the sources, from 1."""

    question: str
    searched: str
    rank: int | None
    ended: str
    chat_id: UUID


def main() -> None:
    options = arguments()
    if options.played:
        os.environ["FASTRAG_CHAT_MODEL"] = PLAYED
    with contextlib.ExitStack() as stack:
        scratch = options.keep or stack.enter_context(tempfile.TemporaryDirectory())
        python_docs.prepare(Path(scratch))
        index(options, stack)
        if options.raw:
            search_as_asked()
        for conversation in json.loads(TURNS.read_text()):
            asyncio.run(converse(conversation))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    found = next((path for path in python_docs.FOLDERS if (path / "index.html").exists()), None)
    parser.add_argument("folder", nargs="?", type=Path, default=found)
    parser.add_argument(
        "--keep", metavar="DIR", help="scratch database; a filled one is used as is"
    )
    parser.add_argument("--no-vectors", action="store_true", help="lexical search alone")
    parser.add_argument("--played", action="store_true", help="rewrite as the file says")
    parser.add_argument("--raw", action="store_true", help="search for each question as asked")
    options = parser.parse_args()
    if options.folder is None:
        parser.error("there is no such documentation; try: apt-get install -y python3-doc")
    return options


def index(options: argparse.Namespace, stack: contextlib.ExitStack) -> None:
    from retrieval.models import Chunk, Embedding

    if not Chunk.objects.exists():
        address = stack.enter_context(python_docs.serving(options.folder))
        python_docs.first_sync(address, vectors=not options.no_vectors)
    print(f"{Chunk.objects.count()} passages, {Embedding.objects.count()} with a vector")


def search_as_asked() -> None:
    from chats import rewriting

    async def as_asked(question: str, *_: object) -> str:
        return question

    rewriting.query_for = as_asked  # type: ignore[assignment]


async def converse(conversation: list[dict[str, Any]]) -> None:
    found, chat_id = 0, None
    for number, turn in enumerate(conversation, 1):
        one = await ask(turn, chat_id)
        chat_id = one.chat_id
        found += one.rank is not None
        where = f"page {one.rank}" if one.rank else "NOT FOUND"
        searched = "" if one.searched == one.question else f"  → {one.searched}"
        print(f"{number:2}. {one.question}{searched} [{where}; {one.ended}]", flush=True)
    print(f"right page among the sources: {found}/{len(conversation)} turns\n", flush=True)


async def ask(turn: dict[str, Any], chat_id: UUID | None) -> Outcome:
    from asgiref.sync import sync_to_async

    from chats.answering import begin
    from chats.events import MessageEnd, MessageStart, Sources
    from chats.handover import one_by_one
    from fastrag_site.owners import Owner
    from retrieval.services import retrieve

    searched: list[str] = []

    def noting(query: Query) -> Generator[Stage, None, Retrieved]:
        searched.append(query.text)
        return (yield from retrieve(query))

    urls: list[str] = []
    ended = ""
    begun = await sync_to_async(begin)(
        owner=Owner(session_key="benchmark"),
        question=turn["question"],
        chat_id=chat_id,
        retrieve=noting,
    )
    async with contextlib.aclosing(one_by_one(begun)) as events:
        async for event in events:
            if isinstance(event, MessageStart):
                chat_id = event.chat_id
            elif isinstance(event, Sources):
                urls = [source.url for source in event.sources]
            elif isinstance(event, MessageEnd):
                ended = event.finish_reason
    ends = tuple(f"/{page}" for page in turn["pages"])
    ranks = (rank for rank, url in enumerate(urls, 1) if url.endswith(ends))
    assert chat_id is not None
    return Outcome(
        question=turn["question"],
        searched=" ".join(searched),
        rank=next(ranks, None),
        ended=ended,
        chat_id=chat_id,
    )


if __name__ == "__main__":
    main()
