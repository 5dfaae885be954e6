"""The routes as a client sees them, refusals above all (API.md; CASES.md, Chat state)."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any
from unittest.mock import patch

import pytest
from django.contrib.auth import get_user_model
from django.db import OperationalError
from django.test import Client, override_settings
from django.utils import timezone

from chats import services
from chats.ids import uuid7
from chats.models import Chat, Generation, Message
from fastrag_site import shutdown
from tests.factories import ChatFactory, GenerationFactory, exchange

pytestmark = pytest.mark.django_db


@pytest.fixture
def ann(client: Client) -> Client:
    """A client whose anonymous session owns what the factories make."""
    session = client.session
    session["owner"] = "a-session"
    session.save()
    return client


def error_of(response: Any, status: int) -> dict[str, Any]:
    assert response.status_code == status, response.content
    assert response.headers["Content-Type"] == "application/json"
    error: dict[str, Any] = json.loads(response.content)["error"]
    return error


def post(client: Client, path: str, body: Any, **headers: str) -> Any:
    content = body if isinstance(body, bytes | str) else json.dumps(body)
    return client.post(path, content, content_type="application/json", headers=headers or None)


def fresh_generation(**values: Any) -> Generation:
    return GenerationFactory(heartbeat_at=timezone.now(), **values)


# Asking


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"content": ""},
        {"content": " \n\t\u3000"},
        {"content": "\u200b\u2060"},
        {"content": None},
        {"content": 5},
        {"content": True},
        {"content": ["Why?"]},
        {"content": {"text": "Why?"}},
        {"content": "a\0b"},
        {"content": "\ud800"},
        {"content": "x" * 8_001},
    ],
)
def test_a_question_that_is_none_is_refused_by_field(ann: Client, body: Any) -> None:
    for path in ("/api/chats", f"/api/chats/{ChatFactory().id}/messages"):
        error = error_of(post(ann, path, body), 400)
        assert error["code"] == "VALIDATION_ERROR"
        assert list(error["fields"]) == ["content"] and error["fields"]["content"]
    assert not Generation.objects.exists()


@pytest.mark.parametrize("body", ["[]", '"Why?"', "null", "5"])
def test_a_body_that_is_no_object_is_refused(ann: Client, body: str) -> None:
    assert error_of(post(ann, "/api/chats", body), 400)["code"] == "VALIDATION_ERROR"


@pytest.mark.parametrize("accept", ["text/event-stream", "application/json", "text/html", "*/*"])
def test_a_refusal_is_json_whatever_the_client_accepts(ann: Client, accept: str) -> None:
    assert error_of(post(ann, "/api/chats", "{", Accept=accept), 400)["code"] == "MALFORMED_JSON"
    missing = f"/api/chats/{uuid7()}/messages"
    response = post(ann, missing, {"content": "Why?"}, Accept=accept)
    assert error_of(response, 404)["code"] == "CHAT_NOT_FOUND"


@pytest.mark.parametrize(
    ("limits", "code", "status"),
    [
        ({"CHATS_PER_OWNER": 0}, "CHAT_LIMIT", 409),
        ({"GENERATIONS_PER_OWNER": 0}, "TOO_MANY_GENERATIONS", 429),
        ({"GENERATIONS_PER_WORKER": 0}, "SERVICE_UNAVAILABLE", 503),
    ],
)
def test_a_cap_that_is_reached_is_told_before_any_stream(
    ann: Client, limits: dict[str, int], code: str, status: int
) -> None:
    with override_settings(FASTRAG=limits):
        response = post(ann, "/api/chats", {"content": "Why?"})
    assert error_of(response, status)["code"] == code
    assert ("Retry-After" in response.headers) == (status in (429, 503))
    assert not Generation.objects.exists()


def test_a_busy_and_a_full_chat_refuse(ann: Client) -> None:
    busy, full = ChatFactory(), ChatFactory()
    fresh_generation(chat_id=busy.id)
    exchange(full, 0)
    response = post(ann, f"/api/chats/{busy.id}/messages", {"content": "Why?"})
    assert error_of(response, 409)["code"] == "CHAT_BUSY"
    with override_settings(FASTRAG={"CHAT_MAX_MESSAGES": 2}):
        response = post(ann, f"/api/chats/{full.id}/messages", {"content": "Why?"})
    assert error_of(response, 409)["code"] == "CHAT_FULL"


def test_a_server_that_shuts_down_refuses_to_begin(ann: Client) -> None:
    shutdown.begin()
    response = post(ann, "/api/chats", {"content": "Why?"})
    assert error_of(response, 503)["code"] == "SERVICE_UNAVAILABLE"


def test_a_database_that_is_out_is_told_as_unavailable(ann: Client) -> None:
    with patch.object(services, "generation_open", side_effect=OperationalError("secret")):
        response = post(ann, "/api/chats", {"content": "Why?"})
    error = error_of(response, 503)
    assert error["code"] == "SERVICE_UNAVAILABLE" and "secret" not in error["message"]


# Somebody else's chat


REQUESTS = [
    ("get", "", None),
    ("patch", "", {"title": "Mine"}),
    ("patch", "", {"title": ""}),
    ("delete", "", None),
    ("post", "/messages", {"content": "Why?"}),
    ("post", "/messages", {"content": ""}),
    ("post", "/stop", None),
    ("get", "/export", None),
    ("get", "/export?as=pdf", None),
    ("post", f"/messages/{uuid7()}/regenerate", None),
    ("post", "/messages/nonsense/regenerate", None),
    ("put", f"/messages/{uuid7()}/feedback", {"rating": "up"}),
    ("put", f"/messages/{uuid7()}/feedback", {"rating": "sideways"}),
    ("delete", f"/messages/{uuid7()}/feedback", None),
]


@pytest.mark.parametrize(("method", "rest", "body"), REQUESTS)
@pytest.mark.parametrize("signed_in", [False, True])
def test_another_owners_chat_is_a_missing_one_on_every_route(
    ann: Client, method: str, rest: str, body: Any, signed_in: bool
) -> None:
    user = get_user_model().objects.create_user("ben")
    if signed_in:
        ann.force_login(user)
        theirs = ChatFactory()
    else:
        theirs = ChatFactory(session_key="", user=user)
    running = fresh_generation(
        opens_chat=True, session_key=theirs.session_key, user_id=theirs.user_id
    )
    answers = [
        ann.generic(
            method.upper(),
            f"/api/chats/{chat_id}{rest}",
            json.dumps(body) if body else b"",
            content_type="application/json",
        )
        for chat_id in (uuid7(), theirs.id, running.chat_id, "x", "0", "%00", str(uuid7())[:-1])
    ]
    assert {(answer.status_code, answer.content) for answer in answers} == {
        (404, answers[0].content)
    }
    assert error_of(answers[0], 404)["code"] == "CHAT_NOT_FOUND"
    assert Chat.objects.get() == theirs


def test_lists_show_own_chats_only(ann: Client) -> None:
    mine = ChatFactory()
    ChatFactory(session_key="another")
    results = ann.get("/api/chats").json()["results"]
    assert [chat["id"] for chat in results] == [str(mine.id)]


def test_without_anonymous_access_nothing_is_open(client: Client) -> None:
    with override_settings(FASTRAG={"ALLOW_ANONYMOUS": False}):
        responses = [client.get("/api/chats"), post(client, "/api/chats", {"content": "Why?"})]
    for response in responses:
        assert error_of(response, 401)["code"] == "NOT_AUTHENTICATED"


# Reading


def test_a_chat_is_read_with_its_messages_in_order(ann: Client) -> None:
    chat = ChatFactory(title="T")
    exchange(chat, 0, sources=[{"url": "u"}], model="m", prompt_tokens=3, completion_tokens=4)
    exchange(chat, 2, finish_reason="error", error_code="TIMEOUT", error_message="Late.")
    data = ann.get(f"/api/chats/{chat.id}/").json()
    assert (data["id"], data["title"]) == (str(chat.id), "T")
    assert [message["role"] for message in data["messages"]] == ["user", "assistant"] * 2
    question, answer, _, failed = data["messages"]
    assert (question["finish_reason"], question["sources"], question["model"]) == (None,) * 3
    assert answer["sources"] == [{"url": "u"}] and answer["error"] is None
    assert answer["usage"] == {"prompt_tokens": 3, "completion_tokens": 4}
    assert failed["error"] == {"code": "TIMEOUT", "message": "Late."}
    assert (failed["finish_reason"], failed["usage"]) == ("error", None)


def test_the_list_is_newest_activity_first_in_cursor_pages(ann: Client) -> None:
    chats = [str(ChatFactory().id) for _ in range(5)][::-1]
    seen, url = [], "/api/chats?limit=2"
    while url:
        page = ann.get(url).json()
        assert set(page) == {"results", "next", "previous"}
        seen += [chat["id"] for chat in page["results"]]
        url = page["next"]
    assert seen == chats


def test_the_list_can_be_searched(ann: Client) -> None:
    ChatFactory(title="Nothing")
    by_title, by_content = ChatFactory(title="About Über"), ChatFactory()
    exchange(by_content, 0, content="über all")
    found = ann.get("/api/chats", {"search": "ÜBER"}).json()["results"]
    assert [chat["id"] for chat in found] == [str(by_content.id), str(by_title.id)]


def test_a_search_finds_chats_that_hold_each_word_somewhere(ann: Client) -> None:
    both, one = ChatFactory(title="Tides"), ChatFactory(title="Tides")
    exchange(both, 0)
    exchange(both, 2, content="It is the moon, to 100%.")
    exchange(one, 0, content="No such thing.")
    exchange(ChatFactory(session_key="another", title="Tides"), 0, content="The moon.")

    def found(search: str) -> list[str]:
        results = ann.get("/api/chats", {"search": search}).json()["results"]
        return [chat["id"] for chat in results]

    assert found("tides") == [str(one.id), str(both.id)]
    assert found("moon  TIDES") == [str(both.id)]
    assert found("100%") == [str(both.id)] and found("%") == [str(both.id)]
    assert found("tides sun") == found("mo_n") == []


@pytest.mark.parametrize("query", ["search=a%00b", "search=" + "x" * 201, "cursor=nonsense"])
def test_a_list_query_that_cannot_be_is_refused(ann: Client, query: str) -> None:
    assert error_of(ann.get(f"/api/chats?{query}"), 400)["code"] == "VALIDATION_ERROR"


@pytest.mark.parametrize("path", ["/api/chats", "/api/chats/{}"])
def test_a_reader_stores_what_a_dead_worker_left(ann: Client, path: str) -> None:
    row = GenerationFactory(opens_chat=True, said="So far")
    assert ann.get(path.format(row.chat_id)).status_code == 200
    answer = Message.objects.get(role="assistant")
    assert (answer.id, answer.content, answer.finish_reason) == (
        row.message_id,
        "So far",
        "interrupted",
    )


def test_an_exchange_is_not_seen_before_it_is_finished(ann: Client) -> None:
    chat = ChatFactory()
    fresh_generation(chat_id=chat.id)
    new = fresh_generation(opens_chat=True)
    assert ann.get(f"/api/chats/{chat.id}").json()["messages"] == []
    assert error_of(ann.get(f"/api/chats/{new.chat_id}"), 404)["code"] == "CHAT_NOT_FOUND"


# Changing


def test_a_chat_is_renamed(ann: Client) -> None:
    chat = ChatFactory()
    before = chat.active_at
    response = ann.patch(f"/api/chats/{chat.id}", {"title": "New"}, "application/json")
    assert response.json()["title"] == "New"
    chat.refresh_from_db()
    assert (chat.title, chat.active_at) == ("New", before)


@pytest.mark.parametrize("title", ["", "  ", None, 7, "x" * 201, "a\0", ["a"]])
def test_a_title_that_is_none_is_refused(ann: Client, title: Any) -> None:
    chat = ChatFactory()
    response = ann.patch(f"/api/chats/{chat.id}", {"title": title}, "application/json")
    assert list(error_of(response, 400)["fields"]) == ["title"]


def test_a_chat_is_deleted_with_its_messages(ann: Client) -> None:
    chat = ChatFactory()
    exchange(chat, 0)
    other = ChatFactory()
    response = ann.delete(f"/api/chats/{chat.id}")
    assert (response.status_code, response.content) == (204, b"")
    assert Chat.objects.get() == other and not Message.objects.exists()
    assert ann.get(f"/api/chats/{chat.id}").status_code == 404


def test_an_old_session_key_is_not_an_owner(client: Client) -> None:
    chat = ChatFactory(session_key="nobody-else", active_at=timezone.now() - timedelta(days=1))
    assert client.get(f"/api/chats/{chat.id}").status_code == 404
    assert client.get("/api/chats").json()["results"] == []
