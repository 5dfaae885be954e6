"""Search over the indexed pages. Below: the pipeline. Above: chats, views, commands, RCP."""

from __future__ import annotations

from collections.abc import Generator

from retrieval.pipeline.run import run
from retrieval.types import Query, Retrieved, Stage


def retrieve(query: Query) -> Generator[Stage, None, Retrieved]:
    """A Stage after each step, then the result as the generator's return value."""
    return (yield from run(query))


def search(query: Query) -> Retrieved:
    """The result alone."""
    steps = retrieve(query)
    while True:
        try:
            next(steps)
        except StopIteration as stop:
            result: Retrieved = stop.value
            return result
