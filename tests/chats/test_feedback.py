"""Feedback on answers, by their owner (API.md, Routes)."""

from __future__ import annotations

import json
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client

from chats.models import Chat, Feedback, Message
from tests.chats.test_views import ann, error_of
from tests.factories import ChatFactory, MessageFactory, exchange

__all__ = ["ann"]

pytestmark = pytest.mark.django_db


def path_of(chat: Chat, message: Message) -> str:
    return f"/api/chats/{chat.id}/messages/{message.id}/feedback"


def put(client: Client, path: str, body: Any) -> Any:
    return client.put(path, json.dumps(body), content_type="application/json")


def test_feedback_is_kept_shown_replaced_and_taken_back(ann: Client) -> None:
    chat = ChatFactory()
    _, answer = exchange(chat, 0)
    path = path_of(chat, answer)

    def shown() -> Any:
        question, answered = ann.get(f"/api/chats/{chat.id}").json()["messages"]
        assert question["feedback"] is None
        return answered["feedback"]

    assert shown() is None
    given = {"rating": "down", "comment": "Not about\nthe tides."}
    response = put(ann, path, given)
    assert (response.status_code, response.json()) == (200, given)
    assert shown() == given
    assert put(ann, path, {"rating": "up"}).json() == {"rating": "up", "comment": ""}
    assert shown() == {"rating": "up", "comment": ""}
    assert Feedback.objects.count() == 1
    for _ in range(2):
        assert ann.delete(path).status_code == 204
    assert shown() is None


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "rating"),
        ({"rating": "good"}, "rating"),
        ({"rating": None}, "rating"),
        ({"rating": ["up"]}, "rating"),
        ({"rating": "up", "comment": 5}, "comment"),
        ({"rating": "up", "comment": None}, "comment"),
        ({"rating": "up", "comment": "a\0b"}, "comment"),
        ({"rating": "up", "comment": "x" * 2_001}, "comment"),
    ],
)
def test_what_is_no_feedback_is_refused_by_field(ann: Client, body: Any, field: str) -> None:
    chat = ChatFactory()
    _, answer = exchange(chat, 0)
    error = error_of(put(ann, path_of(chat, answer), body), 400)
    assert (error["code"], list(error["fields"])) == ("VALIDATION_ERROR", [field])
    assert not Feedback.objects.exists()


def test_an_earlier_answer_keeps_its_feedback(ann: Client) -> None:
    chat = ChatFactory()
    exchange(chat, 0)
    earlier = MessageFactory(chat=chat, position=1, is_current=False)
    assert put(ann, path_of(chat, earlier), {"rating": "down"}).status_code == 200
    answered = ann.get(f"/api/chats/{chat.id}").json()["messages"][1]
    assert answered["feedback"] is None
    assert answered["alternatives"][0]["feedback"] == {"rating": "down", "comment": ""}


def test_a_question_gets_no_feedback(ann: Client) -> None:
    chat = ChatFactory()
    question, _ = exchange(chat, 0)
    other = exchange(ChatFactory(), 0)[1]
    for message in (question, other, Message(id=uuid4())):
        path = path_of(chat, message)
        for response in (put(ann, path, {"rating": "up"}), ann.delete(path)):
            assert error_of(response, 404)["code"] == "MESSAGE_NOT_FOUND"
    path = f"/api/chats/{chat.id}/messages/nonsense/feedback"
    assert error_of(ann.delete(path), 404)["code"] == "MESSAGE_NOT_FOUND"
