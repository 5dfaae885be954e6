"""Answering the same question again: alternatives, order, history (API.md, Routes)."""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

import pytest
from django.db import IntegrityError, transaction
from django.test import Client, override_settings
from django.utils import timezone

from chats import services
from chats.events import FinishReason
from chats.generation.base import Turn
from chats.models import Chat, Generation, Message
from chats.storing import Outcome
from fastrag_site.errors import ChatBusy, ChatFull, ChatNotFound, MessageNotFound
from fastrag_site.owners import Owner
from tests.chats.test_views import ann
from tests.factories import ChatFactory, GenerationFactory, MessageFactory, exchange

__all__ = ["ann"]

pytestmark = pytest.mark.django_db

ANN = Owner(session_key="a-session")


def reopen(chat: Chat, answer: Message, **options: Any) -> services.Exchange:
    return services.generation_reopen(
        owner=ANN, chat_id=chat.id, message_id=answer.id, model="m", **options
    )


def regenerate(chat: Chat, answer: Message, content: str = "Better.") -> Message:
    again = reopen(chat, answer)
    outcome = Outcome(finish_reason=FinishReason.STOP, content=content)
    assert services.settle(message_id=again.message_id, outcome=outcome)
    return Message.objects.get(pk=again.message_id)


def shown(client: Client, chat: Chat) -> list[dict[str, Any]]:
    response = client.get(f"/api/chats/{chat.id}")
    assert response.status_code == 200
    messages: list[dict[str, Any]] = json.loads(response.content)["messages"]
    return messages


def test_the_newest_answer_is_shown_and_lists_the_earlier_ones(ann: Client) -> None:
    chat = ChatFactory()
    question, first = exchange(chat, 0, content="First.")
    second = regenerate(chat, first, "Second.")
    third = regenerate(chat, second, "Third.")
    asked, answered = shown(ann, chat)
    assert (asked["id"], asked["alternatives"]) == (str(question.id), [])
    assert (answered["id"], answered["content"]) == (str(third.id), "Third.")
    assert [(one["id"], one["content"]) for one in answered["alternatives"]] == [
        (str(second.id), "Second."),
        (str(first.id), "First."),
    ]


def test_an_earlier_answer_can_be_what_is_written_again(ann: Client) -> None:
    chat = ChatFactory()
    _, first = exchange(chat, 0)
    regenerate(chat, first)
    third = regenerate(chat, first)
    assert shown(ann, chat)[1]["id"] == str(third.id)


def test_positions_stay_question_and_answer_and_a_follow_up_goes_on(ann: Client) -> None:
    chat = ChatFactory()
    _, first = exchange(chat, 0)
    _, later = exchange(chat, 2)
    regenerate(chat, first)
    asked = services.generation_open(owner=ANN, question="And?", chat_id=chat.id)
    services.settle(
        message_id=asked.message_id, outcome=Outcome(finish_reason=FinishReason.STOP, content="So.")
    )
    assert [message["role"] for message in shown(ann, chat)] == ["user", "assistant"] * 3
    current = Message.objects.filter(chat=chat, is_current=True)
    assert list(current.values_list("position", flat=True).order_by("position")) == [*range(6)]
    assert later.position == 3


def test_the_model_is_given_the_newest_answers_before_the_question() -> None:
    chat = ChatFactory()
    first_question, first = exchange(chat, 0, content="Old.")
    question, second = exchange(chat, 2)
    exchange(chat, 4)
    regenerate(chat, first, "New.")
    again = reopen(chat, second)
    assert again.question == question.content
    assert again.history == (Turn(question=first_question.content, answer="New."),)


def test_a_new_question_is_given_the_newest_answers() -> None:
    chat = ChatFactory()
    question, first = exchange(chat, 0, content="Old.")
    regenerate(chat, first, "New.")
    asked = services.generation_open(owner=ANN, question="And?", chat_id=chat.id)
    assert asked.history == (Turn(question=question.content, answer="New."),)


def test_the_ids_announced_are_the_old_question_and_a_new_answer() -> None:
    chat = ChatFactory()
    question, answer = exchange(chat, 0)
    again = reopen(chat, answer)
    assert (again.chat_id, again.user_message_id) == (chat.id, question.id)
    assert again.message_id != answer.id and not again.opens_chat


def test_while_one_is_written_another_is_refused_with_its_id() -> None:
    chat = ChatFactory()
    _, answer = exchange(chat, 0)
    running = GenerationFactory(chat_id=chat.id, heartbeat_at=timezone.now())
    with pytest.raises(ChatBusy) as refused:
        reopen(chat, answer)
    assert refused.value.details == {
        "chat_id": str(chat.id),
        "message_id": str(running.message_id),
    }


@override_settings(FASTRAG={"CHAT_MAX_MESSAGES": 4})
def test_earlier_answers_count_as_messages_of_the_chat() -> None:
    chat = ChatFactory()
    _, answer = exchange(chat, 0)
    regenerate(chat, answer)
    with pytest.raises(ChatFull):
        services.generation_open(owner=ANN, question="And?", chat_id=chat.id)
    regenerate(chat, answer)
    with pytest.raises(ChatFull):
        reopen(chat, answer)


def test_what_a_dead_worker_was_writing_again_is_stored_as_interrupted(ann: Client) -> None:
    chat = ChatFactory()
    _, answer = exchange(chat, 0, content="First.")
    again = reopen(chat, answer)
    Generation.objects.update(said="Half", worker="", heartbeat_at=chat.active_at)
    assert services.sweep() == 1
    answered = shown(ann, chat)[1]
    assert (answered["id"], answered["content"]) == (str(again.message_id), "Half")
    assert answered["alternatives"][0]["content"] == "First."


def test_a_question_or_an_answer_elsewhere_is_no_message_to_write_again() -> None:
    chat, other = ChatFactory(), ChatFactory()
    question, _ = exchange(chat, 0)
    _, elsewhere = exchange(other, 0)
    for message in (question, elsewhere, Message(id=uuid4())):
        with pytest.raises(MessageNotFound):
            reopen(chat, message)
    assert not Generation.objects.exists()


def test_another_owners_chat_is_a_missing_one() -> None:
    chat = ChatFactory(session_key="another")
    _, answer = exchange(chat, 0)
    with pytest.raises(ChatNotFound):
        reopen(chat, answer)


def test_the_database_holds_one_current_answer_at_a_position() -> None:
    chat = ChatFactory()
    exchange(chat, 0)
    with pytest.raises(IntegrityError), transaction.atomic():
        MessageFactory(chat=chat, position=1)
    MessageFactory(chat=chat, position=1, is_current=False)


def test_what_is_regenerated_in_a_chat_deleted_meanwhile_is_dropped() -> None:
    chat = ChatFactory()
    _, answer = exchange(chat, 0)
    again = reopen(chat, answer)
    services.chat_delete(owner=ANN, chat_id=chat.id)
    outcome = Outcome(finish_reason=FinishReason.STOP, content="Late.")
    assert not services.settle(message_id=again.message_id, outcome=outcome)
    assert not Message.objects.exists()
