"""Progress and log notifications of this engine."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import override_settings

from tests.retrieval.handlers.conftest import Engine
from tests.retrieval.handlers.test_retrieve import OUT

STAGES = [
    *("transform", "recall:sparse", "recall:dense"),
    *("fuse:convex", "rerank", "mmr", "pack"),
]


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({}, STAGES),
        ({"mmr": {"lambda": 0.5}}, STAGES),
        ({"query": "Wie hoch ist der Druck der Pumpe?"}, STAGES),
        ({"fusion": {"method": "rrf"}}, [s.replace("convex", "rrf") for s in STAGES]),
        ({"mode": "sparse"}, [s for s in STAGES if s != "recall:dense"]),
        ({"mode": "dense"}, [s for s in STAGES if s != "recall:sparse"]),
        ({"query": ""}, ["transform"]),
    ],
)
def test_every_search_tells_of_its_stages(
    engine: Engine, params: dict[str, Any], expected: list[str]
) -> None:
    said = engine.retrieve(**{"query": "pump pressure", **params}, token="t")
    assert [frame["stage"] for frame in said.stages] == expected


def test_progress_never_falls_and_ends_at_one(engine: Engine) -> None:
    numbers = [frame["progress"] for frame in engine.retrieve(token=0).stages]
    assert numbers == sorted(numbers)
    assert numbers[-1] == 1.0


def test_messages_have_counts(engine: Engine) -> None:
    messages = {frame["stage"]: frame["message"] for frame in engine.retrieve(token="").stages}
    del messages["transform"]
    assert all(message[0].isdigit() for message in messages.values())
    assert messages["pack"] == "5 hits"


def test_partial_hits_are_ids_that_the_result_may_have(engine: Engine) -> None:
    said = engine.retrieve(token="t")
    partial = {frame["stage"]: frame["partial"]["hits"] for frame in said.stages[1:]}
    assert [hit["id"] for hit in partial["pack"]] == said.ids
    assert partial["fuse:convex"][0] == {"id": said.ids[0], "score": said.hits[0]["score"]}
    assert partial["recall:sparse"][0]["score"] == max(
        hit["scores"].get("sparse", 0.0) for hit in said.hits
    )


def test_partial_hits_of_documents_are_documents(engine: Engine) -> None:
    said = engine.retrieve("pump", unit="document", token="t")
    for frame in said.stages[1:]:
        ids = [hit["id"] for hit in frame["partial"]["hits"]]
        assert len(set(ids)) == len(ids)
        assert all(id_.startswith("https://plant.example/") for id_ in ids)


def test_without_a_token_there_is_no_frame(engine: Engine) -> None:
    assert engine.retrieve().frames == []


def test_adding_documents_tells_of_its_steps(engine: Engine) -> None:
    stages = engine.add({"text": "The crane lifts nine tonnes."}, token="t").stages
    assert [frame["stage"] for frame in stages] == ["chunk", "store", "embed"]
    assert stages[-1]["progress"] == 1.0


# Log notifications


def test_only_a_client_that_asked_for_it_sees_the_log(engine: Engine) -> None:
    assert engine.retrieve().sent("notifications/log") == []
    engine.session.wants_log = True
    (entry,) = engine.retrieve().sent("notifications/log")
    assert entry["level"] == "info"
    assert entry["logger"] == "retrieve"
    assert entry["message"].startswith("5 hits of")


def test_what_a_search_goes_without_is_a_warning(engine: Engine) -> None:
    engine.session.wants_log = True
    with override_settings(FASTRAG=OUT):
        entries = engine.retrieve().sent("notifications/log")
    assert [entry["level"] for entry in entries] == ["warning", "info"]
    levels = engine.server.capabilities["log"]["levels"]
    assert {entry["level"] for entry in entries} <= set(levels)
