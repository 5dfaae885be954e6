"""Totals by day: right, bounded in time, read from an index alone."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from chats.models import Chat, Feedback
from chats.usage import total_of, usage_by_day
from tests.admin_client import admin_client
from tests.factories import ChatFactory, MessageFactory, exchange

__all__ = ["admin_client"]

pytestmark = pytest.mark.django_db

USAGE = reverse("admin:chats_message_usage")
MESSAGES = reverse("admin:chats_message_changelist")


@pytest.fixture
def chat() -> Chat:
    return ChatFactory()


def answered(chat: Chat, position: int, days_ago: int = 0, **values: Any) -> None:
    when = timezone.now() - timedelta(days=days_ago)
    defaults = {
        "prompt_tokens": 100,
        "completion_tokens": 10,
        "first_token_ms": 200,
        "duration_ms": 1_000,
    }
    exchange(chat, position, created_at=when, **defaults | values)


def test_a_day_sums_tokens_and_averages_times(chat: Chat) -> None:
    answered(chat, 0)
    answered(chat, 2, first_token_ms=400, duration_ms=2_000)
    answered(chat, 4, finish_reason="error", prompt_tokens=None, completion_tokens=None,
             first_token_ms=None, duration_ms=3_000)  # fmt: skip
    answered(chat, 6, finish_reason="interrupted")
    MessageFactory(chat=chat, position=1, is_current=False, created_at=timezone.now())
    (day,) = usage_by_day(7)
    assert day.day == timezone.localdate()
    assert (day.answers, day.failed, day.interrupted) == (5, 1, 1)
    assert (day.prompt_tokens, day.completion_tokens) == (300, 30)
    assert day.first_token_ms == pytest.approx(800 / 3)
    assert day.duration_ms == pytest.approx(7_000 / 4)


def test_days_come_newest_first_and_only_as_far_as_asked(chat: Chat) -> None:
    for number, days_ago in enumerate((0, 1, 6, 7, 40)):
        answered(chat, 2 * number, days_ago)
    today = timezone.localdate()
    assert [(today - day.day).days for day in usage_by_day(7)] == [0, 1, 6]
    assert total_of(usage_by_day(30))["completion_tokens"] == 40


def test_the_totals_read_an_index_alone_and_no_more_than_their_range(chat: Chat) -> None:
    with CaptureQueriesContext(connection) as captured:
        usage_by_day(1)
    (query,) = captured
    is_postgresql = connection.vendor == "postgresql"
    with connection.cursor() as cursor:
        if is_postgresql:  # would rather read a small table whole
            cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off")
        cursor.execute(("EXPLAIN " if is_postgresql else "EXPLAIN QUERY PLAN ") + query["sql"])
        plan = " ".join(str(row[-1]) for row in cursor.fetchall())
    if is_postgresql:
        assert "Index Only Scan using message_usage" in plan
        assert plan.count("created_at >") == plan.count("created_at <") == 1
    else:
        index = "message_usage (role=? AND created_at>? AND created_at<?)"
        assert f"USING COVERING INDEX {index}" in plan


def test_the_page_shows_the_days_and_their_total(admin_client: Client, chat: Chat) -> None:
    answered(chat, 0)
    answered(chat, 2, days_ago=1, completion_tokens=15)
    page = admin_client.get(USAGE)
    text = page.content.decode()
    assert page.status_code == 200 and str(timezone.localdate()) in text
    assert "<th>200</th><th>25</th>" in text and "200 ms" in text
    assert USAGE in admin_client.get(MESSAGES).content.decode()


@pytest.mark.parametrize(("asked", "days"), [("7", 7), ("90", 90), ("100000", 30), ("x", 30)])
def test_no_more_days_than_offered_can_be_asked_for(
    admin_client: Client, asked: str, days: int
) -> None:
    assert (
        f"<strong>{days} days</strong>"
        in admin_client.get(f"{USAGE}?days={asked}").content.decode()
    )


def test_who_may_not_see_messages_sees_no_totals(client: Client) -> None:
    assert client.get(USAGE).status_code == 302
    user = User.objects.create_user("ben", is_staff=True)
    client.force_login(user)
    assert client.get(USAGE).status_code == 403
    user.user_permissions.add(Permission.objects.get(codename="view_message"))
    assert client.get(USAGE).status_code == 200


def test_a_message_shows_its_tokens_and_its_feedback(admin_client: Client, chat: Chat) -> None:
    _, answer = exchange(chat, 0, prompt_tokens=321, completion_tokens=45)
    Feedback.objects.create(
        message=answer, rating="down", comment="Off topic.", given_at=timezone.now()
    )
    for url in (MESSAGES, reverse("admin:chats_chat_change", args=[chat.pk])):
        text = admin_client.get(url).content.decode()
        assert "321 read, 45 written" in text and "down: Off topic." in text
