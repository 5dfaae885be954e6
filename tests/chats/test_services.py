"""Writes: acceptance, heartbeats, settling, sweeping (CASES.md, Chat state)."""

from __future__ import annotations

import subprocess
import sys
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import override_settings
from django.utils import timezone

from chats import selectors, services, workers
from chats.events import Failure, FinishReason
from chats.generation.base import Turn, Usage
from chats.ids import uuid7
from chats.models import Chat, Generation, Message
from chats.services import Exchange
from chats.storing import Outcome
from fastrag_site.errors import ChatBusy, ChatFull, ChatLimit, ChatNotFound, TooManyGenerations
from fastrag_site.owners import Owner
from tests.factories import ChatFactory, GenerationFactory, exchange

pytestmark = pytest.mark.django_db

ANN = Owner(session_key="a-session")
BEN = Owner(session_key="another")
SAID = Outcome(finish_reason=FinishReason.STOP, content="An answer.")


def ask(question: str = "Why?", owner: Owner = ANN, **where: Any) -> Exchange:
    return services.generation_open(owner=owner, question=question, model="m", **where)


def settle(asked: Exchange, outcome: Outcome = SAID) -> bool:
    return services.settle(message_id=asked.message_id, outcome=outcome)


def stored() -> list[tuple[str, str, str]]:
    return list(Message.objects.values_list("role", "content", "finish_reason"))


def test_an_accepted_question_is_in_the_journal_and_nowhere_else() -> None:
    asked = ask("Why?")
    row = Generation.objects.get()
    assert (row.message_id, row.chat_id, row.question) == (asked.message_id, asked.chat_id, "Why?")
    assert row.worker == workers.this_worker()
    assert not Chat.objects.exists() and not Message.objects.exists()


def test_settling_writes_chat_question_and_answer_under_the_announced_ids() -> None:
    asked = ask("How so?")
    outcome = Outcome(
        finish_reason=FinishReason.ERROR,
        content="Half",
        sources=[{"url": "u"}],
        failure=Failure(code="TIMEOUT", message="Late."),
        model="m",
        usage=Usage(prompt_tokens=5, completion_tokens=2),
        first_token_ms=10,
        duration_ms=20,
    )
    assert settle(asked, outcome)
    chat = Chat.objects.get()
    assert (chat.id, chat.title, chat.session_key) == (asked.chat_id, "How so?", "a-session")
    question, answer = chat.messages.all()
    assert (question.id, question.position, question.role) == (asked.user_message_id, 0, "user")
    assert (answer.id, answer.position, answer.role) == (asked.message_id, 1, "assistant")
    assert (answer.content, answer.finish_reason) == ("Half", "error")
    assert (answer.error_code, answer.error_message) == ("TIMEOUT", "Late.")
    assert (answer.prompt_tokens, answer.completion_tokens) == (5, 2)
    assert (answer.first_token_ms, answer.duration_ms, answer.model) == (10, 20, "m")
    assert answer.sources == [{"url": "u"}]
    assert not Generation.objects.exists()


def test_settling_twice_stores_once() -> None:
    asked = ask()
    assert settle(asked)
    assert not settle(asked)
    assert Message.objects.count() == 2


def test_messages_alternate_strictly_and_the_chat_moves_up() -> None:
    chat = ChatFactory()
    exchange(chat, 0)
    before = chat.active_at
    settle(ask(chat_id=chat.id))
    assert list(chat.messages.values_list("position", "role")) == [
        (0, "user"),
        (1, "assistant"),
        (2, "user"),
        (3, "assistant"),
    ]
    chat.refresh_from_db()
    assert chat.active_at > before


def test_the_history_is_what_was_said_in_this_chat() -> None:
    chat = ChatFactory()
    for position in range(0, 30, 2):
        exchange(chat, position)
    exchange(ChatFactory(), 0)
    contents = list(chat.messages.values_list("content", flat=True))
    history = ask(chat_id=chat.id).history
    assert history == tuple(
        Turn(question=question, answer=answer)
        for question, answer in zip(contents[0::2], contents[1::2], strict=True)
    )


# Refusals


def test_a_chat_takes_one_question_at_a_time() -> None:
    chat = ChatFactory()
    ask(chat_id=chat.id)
    with pytest.raises(ChatBusy):
        ask(chat_id=chat.id)
    assert Generation.objects.count() == 1


def test_a_new_chat_is_busy_while_its_first_answer_is_written() -> None:
    asked = ask()
    with pytest.raises(ChatBusy):
        ask(chat_id=asked.chat_id)
    with pytest.raises(ChatNotFound):
        ask(chat_id=asked.chat_id, owner=BEN)


def test_another_owners_chat_is_a_missing_chat() -> None:
    chat = ChatFactory(session_key=BEN.session_key)
    with pytest.raises(ChatNotFound):
        ask(chat_id=chat.id)
    with pytest.raises(ChatNotFound):
        ask(chat_id=uuid7())


@override_settings(FASTRAG={"CHAT_MAX_MESSAGES": 4})
def test_a_full_chat_takes_no_more_questions() -> None:
    chat = ChatFactory()
    exchange(chat, 0)
    settle(ask(chat_id=chat.id))
    with pytest.raises(ChatFull):
        ask(chat_id=chat.id)


@override_settings(FASTRAG={"CHATS_PER_OWNER": 2, "GENERATIONS_PER_OWNER": 10})
def test_chats_being_opened_count_towards_the_limit_of_chats() -> None:
    chat = ChatFactory()
    ask()
    with pytest.raises(ChatLimit):
        ask()
    ask(chat_id=chat.id)
    ask(owner=BEN)


@override_settings(FASTRAG={"GENERATIONS_PER_OWNER": 2})
def test_an_owner_has_so_many_answers_written_at_once() -> None:
    first = ask()
    ask()
    with pytest.raises(TooManyGenerations) as caught:
        ask()
    assert caught.value.retry_after
    ask(owner=BEN)
    settle(first)
    ask()


# While an answer is written


def test_a_heartbeat_saves_what_changed() -> None:
    asked = ask()
    Generation.objects.update(heartbeat_at=timezone.now() - timedelta(seconds=9))
    assert services.generation_heartbeat(message_id=asked.message_id, said="So far")
    assert services.generation_heartbeat(message_id=asked.message_id, sources=[{"url": "u"}])
    row = Generation.objects.get()
    assert (row.said, row.sources) == ("So far", [{"url": "u"}])
    assert timezone.now() - row.heartbeat_at < timedelta(seconds=5)


def test_a_heartbeat_learns_that_nobody_wants_the_answer() -> None:
    asked = ask()
    Generation.objects.update(stop_requested=True)
    assert not services.generation_heartbeat(message_id=asked.message_id)
    services.chat_delete(owner=ANN, chat_id=asked.chat_id)
    assert not services.generation_heartbeat(message_id=asked.message_id)


# Deleting and renaming


def test_deleting_a_chat_takes_its_messages_and_its_running_answer() -> None:
    chat = ChatFactory()
    exchange(chat, 0)
    asked = ask(chat_id=chat.id)
    services.chat_delete(owner=ANN, chat_id=chat.id)
    assert not settle(asked)
    assert not Chat.objects.exists() and not Message.objects.exists()
    assert not Generation.objects.exists()


def test_deleting_a_chat_that_is_only_being_opened_drops_it() -> None:
    asked = ask()
    services.chat_delete(owner=ANN, chat_id=asked.chat_id)
    assert not settle(asked)
    assert not Chat.objects.exists()


def test_the_exchange_of_a_chat_that_vanished_is_dropped_with_its_row() -> None:
    chat = ChatFactory()
    asked = ask(chat_id=chat.id)
    chat.delete()
    assert settle(asked)
    assert stored() == [] and not Generation.objects.exists()


@pytest.mark.parametrize("owner", [BEN, Owner(user_id=1)])
def test_only_its_owner_renames_or_deletes_a_chat(owner: Owner) -> None:
    chat = ChatFactory()
    with pytest.raises(ChatNotFound):
        services.chat_rename(owner=owner, chat_id=chat.id, title="Mine")
    with pytest.raises(ChatNotFound):
        services.chat_delete(owner=owner, chat_id=chat.id)
    assert Chat.objects.get() == chat


# Sweeping


def stale(**values: Any) -> Generation:
    return GenerationFactory(**values)  # its heartbeat is long ago


def test_what_a_dead_worker_left_is_stored_as_interrupted() -> None:
    row = stale(opens_chat=True, said="So far", sources=[{"url": "u"}], model="m")
    assert services.sweep() == 1
    chat = Chat.objects.get(pk=row.chat_id)
    assert stored() == [("user", row.question, ""), ("assistant", "So far", "interrupted")]
    answer = chat.messages.get(role="assistant")
    assert (answer.id, answer.sources, answer.model) == (row.message_id, [{"url": "u"}], "m")
    assert services.sweep() == 0


def test_a_living_answer_is_not_swept() -> None:
    ask()
    assert services.sweep() == 0


def test_a_killed_worker_is_known_to_be_dead_before_the_grace_has_passed() -> None:
    if not workers.this_worker():
        pytest.skip("tells processes apart by /proc")
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        worker = workers._name_of(process.pid)
        process.kill()
    GenerationFactory(opens_chat=True, heartbeat_at=timezone.now(), worker=worker)
    assert services.sweep(owner=ANN) == 1


def test_a_reader_sweeps_only_what_is_its_own() -> None:
    stale(opens_chat=True, session_key=BEN.session_key)
    assert services.sweep(owner=ANN) == 0
    assert services.sweep(owner=BEN) == 1


def test_a_dead_answer_does_not_keep_its_chat_busy() -> None:
    chat = ChatFactory()
    stale(chat_id=chat.id)
    settle(ask("Again?", chat_id=chat.id))
    assert [content for role, content, _ in stored() if role == "user"] == [
        "What is being asked?",
        "Again?",
    ]


# Reading


@pytest.mark.parametrize(
    "text", ["", "x", "1", "{00000000-0000-7000-8000-000000000000}", "urn:uuid:" + "0" * 32]
)
def test_a_malformed_id_is_a_missing_chat(text: str) -> None:
    with pytest.raises(ChatNotFound):
        selectors.chat_id_from(text)


def test_an_id_is_taken_in_upper_case() -> None:
    chat_id = uuid7()
    assert selectors.chat_id_from(str(chat_id).upper()) == chat_id


def test_chats_come_newest_activity_first_and_only_to_their_owner() -> None:
    old, new = ChatFactory(), ChatFactory()
    ChatFactory(session_key=BEN.session_key)
    assert list(selectors.chats_of(owner=ANN)) == [new, old]


@pytest.mark.parametrize("search", ["straße", "STRASSE", "путь", "ПУТЬ", "Путь", "50%", "a_b"])
def test_the_search_looks_in_titles_and_contents_without_regard_to_case(search: str) -> None:
    text = "Die Straße, die STRASSE, наш Путь, 50% of a_b"
    ChatFactory(title="Nothing", session_key=ANN.session_key)
    by_title = ChatFactory(title=text)
    by_content = ChatFactory()
    exchange(by_content, 0, content=text)
    assert set(selectors.chats_of(owner=ANN, search=search)) == {by_title, by_content}


def test_reading_a_chat_is_two_queries(django_assert_num_queries: Any) -> None:
    chat = ChatFactory()
    for position in range(0, 20, 2):
        exchange(chat, position)
    assert connection.vendor
    with django_assert_num_queries(2):
        found = selectors.chat_get(owner=ANN, chat_id=chat.id)
        assert len(selectors.messages_of(found)) == 20
