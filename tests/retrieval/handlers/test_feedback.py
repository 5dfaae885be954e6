"""`feedback`: stored, and shown in the admin."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from retrieval.models import Chunk, HitFeedback
from tests.admin_client import admin_client
from tests.retrieval.handlers.conftest import Engine

__all__ = ["admin_client"]

FEEDBACK = reverse("admin:retrieval_hitfeedback_changelist")
DOCUMENTS = reverse("admin:retrieval_document_changelist")


def test_every_signal_is_stored_with_its_passage(engine: Engine) -> None:
    first, second = engine.retrieve(k=2).ids
    signals = [
        {"hitId": first, "used": True, "cited": False, "reward": -0.5},
        {"hitId": int(second), "helpful": True, "injectionSuspected": True},
    ]
    said = engine.ask("feedback", query="pump pressure", sessionId="s", signals=signals)
    assert said.result == {"accepted": 2}
    later, earlier = HitFeedback.objects.all()
    assert earlier.chunk == Chunk.objects.get(pk=first)
    assert (earlier.used, earlier.cited, earlier.helpful) == (True, False, None)
    assert (earlier.reward, earlier.query, earlier.session) == (-0.5, "pump pressure", "s")
    assert (later.chunk_id, later.injection_suspected) == (int(second), True)
    assert earlier.owner == "local"


def test_feedback_on_a_hit_that_is_gone_is_kept(engine: Engine) -> None:
    signals = [{"hitId": "https://gone.example/", "used": True}, {"hitId": 12.5}]
    assert engine.ask("feedback", signals=signals).result == {"accepted": 2}
    assert set(HitFeedback.objects.values_list("chunk", flat=True)) == {None}


def test_feedback_outlives_its_passage(engine: Engine) -> None:
    engine.add({"id": "c", "text": "The crane lifts nine tonnes."})
    hit = engine.retrieve("crane", k=1).ids[0]
    engine.ask("feedback", signals=[{"hitId": hit, "used": True}])
    engine.ask("index/delete", ids=["c"])
    assert HitFeedback.objects.get().chunk is None


def test_nothing_said_is_nothing_stored(engine: Engine) -> None:
    assert engine.ask("feedback", signals=[]).result == {"accepted": 0}


@pytest.mark.parametrize(
    ("signals", "code", "field"),
    [
        ([{"used": True}], -32602, "signals[0].hitId"),
        ([{"hitId": ""}], -32602, "signals[0].hitId"),
        ([{"hitId": "x" * 301}], -32602, "signals[0].hitId"),
        ([{"hitId": "x", "reward": 2}], -32602, "signals[0].reward"),
        ([{"hitId": "x", "used": "yes"}], -32602, "signals[0].used"),
        ([{"hitId": "x"}] * 101, -32013, "signals"),
    ],
)
def test_wrong_signals_are_named(engine: Engine, signals: Any, code: int, field: str) -> None:
    error = engine.ask("feedback", signals=signals).error
    assert (error["code"], error["data"]["field"]) == (code, field)
    assert not HitFeedback.objects.exists()


# In the admin


def test_the_admin_shows_what_was_said(engine: Engine, admin_client: Client) -> None:
    hit = engine.retrieve("gas flame", k=1).ids[0]
    signal = {"hitId": hit, "used": True, "cited": False, "poisonSuspected": True, "reward": 0.25}
    engine.ask("feedback", query="<b>gas</b>", signals=[signal, {"hitId": "x\0y"}])
    page = admin_client.get(FEEDBACK).content.decode()
    assert "used, not cited" in page
    assert "poison" in page
    assert "&lt;b&gt;gas&lt;/b&gt;" in page
    assert reverse("admin:retrieval_chunk_change", args=[hit]) in page
    assert "not a passage, or gone since" in page
    row = HitFeedback.objects.get(hit=hit)
    detail = reverse("admin:retrieval_hitfeedback_change", args=[row.pk])
    assert "local" in admin_client.get(detail).content.decode()
    assert hit in admin_client.get(f"{FEEDBACK}?q=gas").content.decode()


def test_the_admin_shows_and_deletes_documents(engine: Engine, admin_client: Client) -> None:
    meta = {"team": "<x>", "url": "https://cranes.example/"}
    engine.add({"id": "crane", "text": "The crane lifts.", "meta": meta}, {"id": "b", "text": "B."})
    page = admin_client.get(f"{DOCUMENTS}?q=cra").content.decode()
    assert "https://cranes.example/" in page
    assert ">b<" not in page
    row = Chunk.objects.get(page__document__name="crane").page_id
    detail = reverse("admin:retrieval_document_change", args=[row])
    assert "&lt;x&gt;" in admin_client.get(detail).content.decode()
    gone = reverse("admin:retrieval_document_delete", args=[row])
    admin_client.post(gone, {"post": "yes"})
    assert not Chunk.objects.filter(page=row).exists()
    assert engine.retrieve("crane", mode="sparse").hits == []
