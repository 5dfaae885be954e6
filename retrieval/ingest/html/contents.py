"""Takes a page's table of its own contents out of its blocks. Pure; above: html.parsing.

Themes mark it, fold it or hide it in ways of their own, but it always lists headings that follow.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import groupby

from retrieval.ingest.base import Block, BlockKind

LINES = 3  # fewer links in a row may be a sentence of their own


def without_contents(blocks: Sequence[Block], linked: Collection[int]) -> Iterator[Block]:
    """`linked`: indexes of the blocks that are links and nothing else."""
    last = {
        _name(block): index for index, block in enumerate(blocks) if block.kind is BlockKind.HEADING
    }

    def is_entry(index: int) -> bool:
        block = blocks[index]
        if index not in linked or block.kind is BlockKind.HEADING:
            return False
        return last.get(_name(block), -1) > index

    for is_contents, indexes in groupby(range(len(blocks)), key=is_entry):
        row = list(indexes)
        if not is_contents or len(row) < LINES:
            yield from (blocks[index] for index in row)


def _name(block: Block) -> str:
    return " ".join(block.text.split()).casefold()
