"""Idempotency-Key: the same request twice is one answer (API.md, Refused before message_start)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import Client, override_settings
from django.utils import timezone

from chats import answering, services
from chats.capacity import slots_taken, take_slot
from chats.events import Delta, Event, Failure, FinishReason, MessageEnd, MessageStart
from chats.handover import one_by_one
from chats.idempotency import Idempotency, Repeated, fingerprint_of
from chats.models import Chat, Generation, IdempotentRequest, Message
from chats.storing import Outcome
from fastrag_site.errors import ChatBusy, ChatNotFound, IdempotencyConflict, TooManyGenerations
from fastrag_site.owners import Owner
from fastrag_site.threads import in_thread
from tests.chats.parts import ScriptedModel, found, hit, retriever
from tests.chats.test_views import ann, error_of, post

__all__ = ["ann"]

ANN = Owner(session_key="a-session")
BEN = Owner(session_key="another")
MODEL = {"BACKEND": "tests.chats.test_idempotency.CountedModel"}


class CountedModel(ScriptedModel):
    answers = 0

    async def stream(self, prompt: Any) -> Any:
        type(self).answers += 1
        async for piece in super().stream(prompt):
            yield piece


def request(key: str = "k", asked: str = "Why?") -> Idempotency:
    return Idempotency(key=key, fingerprint=fingerprint_of("ask", None, asked))


def ask(owner: Owner = ANN, asked: Idempotency | None = None, **where: Any) -> services.Exchange:
    return services.generation_open(
        owner=owner, question="Why?", request=asked or request(), **where
    )


def settle(exchange: services.Exchange, **outcome: Any) -> None:
    values = {"finish_reason": FinishReason.STOP, "content": "So."} | outcome
    services.settle(message_id=exchange.message_id, outcome=Outcome(**values))


async def begun(asked: Idempotency) -> list[Event]:
    events = await in_thread(
        answering.begin,
        owner=ANN,
        question="Why?",
        request=asked,
        retrieve=retriever(found(hit(1), hit(2))),
    )
    return [event async for event in one_by_one(events)]


@pytest.mark.django_db(transaction=True)
@override_settings(FASTRAG={"CHAT_MODEL": MODEL})
async def test_a_repeat_is_the_same_frames_with_one_delta_and_no_second_call() -> None:
    CountedModel.answers = 0
    first, second = await begun(request()), await begun(request())
    assert CountedModel.answers == 1 and await Message.objects.acount() == 2
    texts = [event.text for event in first if isinstance(event, Delta)]
    assert texts == ["One ", "two."]
    (delta,) = [event for event in second if isinstance(event, Delta)]
    assert delta.text == "One two."

    def others(events: list[Event]) -> list[Event]:
        return [event for event in events if not isinstance(event, Delta)]

    assert others(first) == others(second) and len(others(first)) == 3
    assert [type(event) for event in second[::3]] == [MessageStart, MessageEnd]


@pytest.mark.django_db(transaction=True)
@override_settings(FASTRAG={"CHAT_MODEL": MODEL, "GENERATIONS_PER_WORKER": 1})
async def test_a_repeat_needs_no_place_in_a_full_worker() -> None:
    await begun(request())
    slot = take_slot()
    try:
        assert len(await begun(request())) == 4
        assert slots_taken() == 1
    finally:
        slot.release()


@pytest.mark.django_db(transaction=True)
async def test_a_repeat_of_a_failed_request_tells_the_same_failure() -> None:
    exchange = await in_thread(ask)
    failure = Failure(code="TIMEOUT", message="Late.")
    await in_thread(settle, exchange, finish_reason=FinishReason.ERROR, content="", failure=failure)
    start, sources, end = await begun(request())
    assert isinstance(start, MessageStart) and sources.name == "sources"
    assert end == MessageEnd(
        message_id=exchange.message_id, finish_reason=FinishReason.ERROR, error=failure
    )


@pytest.mark.django_db
def test_a_repeat_of_a_running_request_is_refused_with_its_message_id() -> None:
    exchange = ask()
    with pytest.raises(ChatBusy) as refused:
        ask()
    assert refused.value.details == {
        "chat_id": str(exchange.chat_id),
        "message_id": str(exchange.message_id),
    }


@pytest.mark.django_db
def test_the_same_key_with_another_body_is_a_conflict() -> None:
    exchange = ask()
    for _ in range(2):
        with pytest.raises(IdempotencyConflict):
            ask(asked=request(asked="How?"))
        settle(exchange)


@pytest.mark.django_db
def test_the_same_question_in_another_chat_is_another_body(ann: Client) -> None:
    chat = Chat.objects.create(id=ask().chat_id, session_key="a-session", active_at=timezone.now())
    Generation.objects.all().delete()
    path, headers = f"/api/chats/{chat.id}/messages", {"Idempotency-Key": "k"}
    error = error_of(post(ann, path, {"content": "Why?"}, **headers), 409)
    assert error["code"] == "IDEMPOTENCY_CONFLICT"


@pytest.mark.django_db
def test_a_key_belongs_to_its_owner() -> None:
    user = get_user_model().objects.create_user("ann")
    owners = (ANN, BEN, Owner(user_id=user.pk))
    assert len({ask(owner).message_id for owner in owners}) == 3


@pytest.mark.django_db
def test_what_was_refused_may_be_tried_again_with_its_key() -> None:
    with override_settings(FASTRAG={"GENERATIONS_PER_OWNER": 0}), pytest.raises(TooManyGenerations):
        ask()
    assert ask().message_id


@pytest.mark.django_db
def test_a_key_is_forgotten_after_its_time() -> None:
    settle(ask())
    with pytest.raises(Repeated):
        ask()
    IdempotentRequest.objects.update(created_at=timezone.now() - timedelta(hours=25))
    settle(ask())
    assert IdempotentRequest.objects.count() == 1


@pytest.mark.django_db
def test_a_sweep_forgets_the_keys_of_owners_that_never_come_back() -> None:
    settle(ask())
    services.sweep()
    assert IdempotentRequest.objects.exists()
    IdempotentRequest.objects.update(created_at=timezone.now() - timedelta(hours=25))
    services.sweep()
    assert not IdempotentRequest.objects.exists()


@pytest.mark.django_db(transaction=True)
async def test_a_repeat_after_its_chat_was_deleted_is_a_missing_chat() -> None:
    exchange = await in_thread(ask)
    await in_thread(settle, exchange)
    await in_thread(services.chat_delete, owner=ANN, chat_id=exchange.chat_id)
    with pytest.raises(ChatNotFound):
        await begun(request())


@pytest.mark.django_db(transaction=True)
async def test_what_a_dead_worker_left_is_replayed_as_interrupted() -> None:
    exchange = await in_thread(ask)
    long_ago = timezone.now() - timedelta(hours=1)
    await Generation.objects.aupdate(said="Half", worker="", heartbeat_at=long_ago)
    *_, delta, end = await begun(request())
    assert delta == Delta(message_id=exchange.message_id, text="Half")
    assert isinstance(end, MessageEnd) and end.finish_reason is FinishReason.INTERRUPTED


@pytest.mark.django_db
@pytest.mark.parametrize("key", ["", " ", "two words", "x" * 256, "schlüssel"])
def test_a_key_that_is_none_is_refused(ann: Client, key: str) -> None:
    error = error_of(post(ann, "/api/chats", {"content": "Why?"}, **{"Idempotency-Key": key}), 400)
    assert (error["code"], list(error["fields"])) == ("VALIDATION_ERROR", ["Idempotency-Key"])
    assert not Generation.objects.exists()


def test_parts_of_a_fingerprint_do_not_run_together() -> None:
    assert fingerprint_of("a", "bc") != fingerprint_of("ab", "c")
    assert fingerprint_of("a", None) != fingerprint_of("a", "None")
