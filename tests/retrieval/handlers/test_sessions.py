"""Sessions: what was shown in one is not shown in it again."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db.models import F
from django.test import override_settings

from retrieval import rcp
from retrieval.handlers.callers import Visitor
from retrieval.models import Trajectory
from tests.retrieval.handlers.conftest import Engine


def test_hits_of_a_session_are_not_returned_again(engine: Engine) -> None:
    whole = engine.retrieve(k=100).ids
    first = engine.retrieve(k=3, sessionId="s")
    second = engine.retrieve(k=3, sessionId="s")
    assert first.ids + second.ids == whole[:6]


def test_also_for_another_question(engine: Engine) -> None:
    shown = set(engine.retrieve("pump", k=3, sessionId="s").ids)
    assert not shown & set(engine.retrieve("water pressure", k=100, sessionId="s").ids)


def test_also_for_another_unit(engine: Engine) -> None:
    first = engine.retrieve("pump", k=1, sessionId="s", unit="document")
    again = engine.retrieve("pump", k=100, sessionId="s", unit="document")
    assert first.pages[0] not in again.pages
    chunks = engine.retrieve("pump", k=100, sessionId="s")
    assert {hit["text"] for hit in first.hits}.isdisjoint(hit["text"] for hit in chunks.hits)


def test_a_session_that_has_seen_everything_gets_nothing(engine: Engine) -> None:
    engine.retrieve(k=100, sessionId="s")
    said = engine.retrieve(k=100, sessionId="s")
    assert said.hits == []
    assert "nextCursor" not in said.result


def test_a_session_with_a_cursor_goes_on_with_both(engine: Engine) -> None:
    whole = engine.retrieve(k=100).ids
    first = engine.retrieve(k=2, sessionId="s")
    second = engine.retrieve(k=2, sessionId="s", cursor=first.result["nextCursor"])
    assert first.ids + second.ids == whole[:4]


def test_without_a_session_nothing_is_remembered(engine: Engine) -> None:
    assert engine.retrieve().ids == engine.retrieve().ids
    assert not Trajectory.objects.exists()


def test_other_sessions_and_other_callers_are_apart(engine: Engine) -> None:
    first = engine.retrieve(sessionId="s").ids
    assert engine.retrieve(sessionId="t").ids == first
    engine.caller = rcp.Caller(identity=Visitor(owner="user:1"))
    assert engine.retrieve(sessionId="s").ids == first


def test_a_session_ends_when_nothing_is_asked_in_it(engine: Engine) -> None:
    first = engine.retrieve(sessionId="s").ids
    ttl = engine.server.capabilities["session"]["ttlSeconds"]
    Trajectory.objects.update(used_at=F("used_at") - timedelta(seconds=ttl + 1))
    assert engine.retrieve(sessionId="s").ids == first
    assert set(engine.retrieve(sessionId="s").ids).isdisjoint(first)


def test_ended_sessions_are_swept_by_others(engine: Engine) -> None:
    engine.retrieve(sessionId="s")
    with override_settings(FASTRAG={"RCP_SESSION_SECONDS": 10}):
        Trajectory.objects.update(used_at=F("used_at") - timedelta(seconds=11))
        engine.retrieve(sessionId="t")
    assert list(Trajectory.objects.values_list("session", flat=True)) == ["t"]


@pytest.mark.parametrize("session", ["", "x" * 201, "a\0b"])
def test_a_session_id_is_bounded(engine: Engine, session: str) -> None:
    error = engine.retrieve(sessionId=session).error
    assert (error["code"], error["data"]["field"]) == (-32602, "sessionId")


def test_a_refused_request_shows_nothing(engine: Engine) -> None:
    engine.retrieve(sessionId="s", filter={"field": "nope", "op": "exists"})
    assert not Trajectory.objects.exists()
