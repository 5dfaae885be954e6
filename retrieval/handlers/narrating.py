"""The pipeline's stages as progress frames. Below: services, hits. Above: retrieve.

Every search tells of the same stages in the same order, whichever of them had something to do.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from dataclasses import replace
from typing import Any

from retrieval import rcp, services
from retrieval.handlers.hits import hit_ids
from retrieval.types import Mode, Query, Retrieved, Stage, Unit

ORDER = ("transform", "recall:sparse", "recall:dense", "fuse", "rerank", "mmr", "pack")
# What is told of a stage that the pipeline left out, and how far the search is there.
LEFT_OUT = {
    "recall:dense": (0.5, "left out for this language"),
    "rerank": (0.8, "in the order of fusion"),
    "mmr": (0.9, "by relevance alone"),
}


def narrated(query: Query) -> Generator[rcp.Progress, None, Retrieved]:
    """Run the query; its result is the return value."""
    last, place = Stage(name="", progress=0.0, message="0 candidates"), -1
    with closing(services.retrieve(query)) as stages:
        while True:
            try:
                stage = next(stages)
            except StopIteration as stop:
                found: Retrieved = stop.value
                break
            reached = ORDER.index("fuse" if stage.name.startswith("fuse:") else stage.name)
            for name in ORDER[place + 1 : reached]:
                if name in LEFT_OUT and not (name == "recall:dense" and query.mode is Mode.SPARSE):
                    yield _left_out(name, last, query.unit)
            last, place = stage, max(place, reached)
            yield _progress(stage, query.unit)
    if place < 0:
        yield rcp.Progress(1.0, "transform", "nothing to look for")
    return found


def _left_out(name: str, last: Stage, unit: Unit) -> rcp.Progress:
    progress, why = LEFT_OUT[name]
    if name == "recall:dense":
        return rcp.Progress(progress, name, f"0 candidates: {why}")
    return _progress(
        replace(last, name=name, progress=progress, message=f"{last.message}, {why}"), unit
    )


def _progress(stage: Stage, unit: Unit) -> rcp.Progress:
    if rcp.current_call().token is None:  # nobody will read it
        return rcp.Progress(stage.progress, stage.name)
    ids = hit_ids(stage.chunk_ids, unit)
    hits: dict[str, dict[str, Any]] = {}  # of several passages of one document the best
    for chunk_id, score in zip(stage.chunk_ids, stage.scores, strict=True):
        if chunk_id in ids:
            hits.setdefault(ids[chunk_id], {"id": ids[chunk_id], "score": score})
    partial = {"hits": list(hits.values())} if hits else None
    return rcp.Progress(stage.progress, stage.name, stage.message, partial)
