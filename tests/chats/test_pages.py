"""The page's routes without a browser: who sees what, and what is sent along."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.test import Client, override_settings
from django.utils import timezone

from chats.ids import uuid7
from chats.models import Chat, Generation, Message
from tests.factories import ChunkFactory, PageFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def user() -> User:
    return User.objects.create_user("reader")


@pytest.fixture
def reader(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def stored(user: User, *, content: str = "Yes.", title: str = "A chat") -> Chat:
    now = timezone.now()
    chat = Chat.objects.create(id=uuid7(), user=user, title=title, created_at=now, active_at=now)
    said(chat, 0, "user", "Why?")
    said(chat, 1, "assistant", content, finish_reason="stop")
    return chat


def said(chat: Chat, position: int, role: str, content: str, **more: object) -> Message:
    values = {"position": position, "role": role, "content": content, **more}
    return Message.objects.create(id=uuid7(), chat=chat, created_at=timezone.now(), **values)


def running(user: User, chat_id: UUID, **changes: object) -> Generation:
    values: dict[str, object] = {
        "message_id": uuid7(),
        "user_message_id": uuid7(),
        "question": "And now?",
        "said": "So far",
        "started_at": timezone.now(),
        "heartbeat_at": timezone.now(),
        **changes,
    }
    return Generation.objects.create(chat_id=chat_id, user=user, **values)


def test_the_start_page_sets_no_cookie_for_a_reader_without_a_name() -> None:
    response = Client().get("/")
    assert response.status_code == 200
    assert not response.cookies
    assert "csrf-token" not in response.text


def test_a_signed_in_reader_gets_the_token_that_the_api_wants(reader: Client) -> None:
    assert '<meta name="csrf-token"' in reader.get("/").text


def test_pages_are_kept_by_no_cache(reader: Client, user: User) -> None:
    response = reader.get(f"/chats/{stored(user).id}")
    assert "no-store" in response["Cache-Control"] and "private" in response["Cache-Control"]


@override_settings(FASTRAG={"ALLOW_ANONYMOUS": False})
def test_where_anonymous_access_is_off_a_reader_is_sent_to_sign_in() -> None:
    response = Client().get("/chats/x")
    assert response.status_code == 302
    assert response["Location"].endswith("?next=/chats/x")


@override_settings(FASTRAG={"ALLOW_ANONYMOUS": False})
@pytest.mark.parametrize("part", ["thread", "answers/y", "answers/y/passages/1"])
def test_a_part_of_a_page_is_refused_and_no_form_to_sign_in(part: str) -> None:
    assert Client().get(f"/chats/x/{part}").status_code == 401


@pytest.mark.parametrize("part", ["", "/thread"])
def test_a_chat_shows_its_messages_to_its_owner_alone(
    reader: Client, user: User, part: str
) -> None:
    chat = stored(user, content="Because **so**.")
    assert "<strong>so</strong>" in reader.get(f"/chats/{chat.id}{part}").text
    assert Client().get(f"/chats/{chat.id}{part}").status_code == 404


def test_an_answer_is_rendered_for_the_owner_of_its_chat_alone(reader: Client, user: User) -> None:
    chat = stored(user)
    answer = chat.messages.get(position=1)
    path = f"/chats/{chat.id}/answers/{answer.id}"
    assert "Yes." in reader.get(path).text
    assert Client().get(path).status_code == 404


def test_a_passage_is_shown_to_those_who_see_its_answer_alone(reader: Client, user: User) -> None:
    page = PageFactory.create()
    text = "Zebras graze. " * 100
    ChunkFactory.create(page=page, text=text, fragment_start="Zebras", fragment_end="graze.")
    fragments = [{"start": "Zebras", "end": "graze."}]
    source = {"url": page.url, "title": "Z", "site_name": None, "favicon_url": None}
    chat = stored(user)
    answer = chat.messages.get(position=1)
    answer.sources = [{**source, "positions": [1], "fragments": fragments}]
    answer.save()
    path = f"/chats/{chat.id}/answers/{answer.id}/passages/"
    (passage,) = reader.get(f"{path}1").json()["passages"]
    assert text.startswith(passage.rstrip("…")) and 300 < len(passage) <= 400
    assert reader.get(f"{path}2").json() == {"passages": []}
    assert Client().get(f"{path}1").status_code == 404


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("Indexing · My Site", "Indexing"),
        ("A | B | My Site", "A | B"),
        ("Indexing · Another", "Indexing · Another"),
        ("My Site", "My Site"),
    ],
)
def test_a_source_is_titled_without_the_name_of_its_site(
    reader: Client, user: User, title: str, shown: str
) -> None:
    source = {"url": "https://a.example/", "title": title, "site_name": "My Site"}
    chat = stored(user)
    chat.messages.filter(position=1).update(
        sources=[{**source, "favicon_url": None, "positions": [1], "fragments": []}]
    )
    page = reader.get(f"/chats/{chat.id}").text
    assert f'<span class="source-title" dir="auto">{shown}</span>' in page


def test_an_answer_that_is_being_written_in_a_new_chat_shows_how_far_it_is(
    reader: Client, user: User
) -> None:
    chat_id = uuid7()
    running(user, chat_id, opens_chat=True)
    page = reader.get(f"/chats/{chat_id}").text
    assert "And now?" in page and "So far" in page and "data-running" in page


def test_an_answer_that_is_given_again_stands_in_the_place_of_the_old_one(
    reader: Client, user: User
) -> None:
    chat = stored(user, content="Old.")
    question = chat.messages.get(position=0)
    running(user, chat.id, regenerates=True, user_message_id=question.id, question="Why?")
    page = reader.get(f"/chats/{chat.id}/thread").text
    assert page.count("Why?") == 1 and "Old." not in page and "So far" in page


def test_an_answer_whose_worker_died_is_shown_as_interrupted(reader: Client, user: User) -> None:
    chat_id = uuid7()
    long_ago = timezone.now() - timedelta(hours=1)
    running(user, chat_id, opens_chat=True, heartbeat_at=long_ago)
    page = reader.get(f"/chats/{chat_id}").text
    assert "The answer was interrupted." in page and "data-running" not in page


def test_titles_and_questions_are_escaped(reader: Client, user: User) -> None:
    chat = stored(user, title="</title><script>alert(1)</script>")
    said(chat, 2, "user", "<script>alert(2)</script>")
    said(chat, 3, "assistant", "x", finish_reason="stop")
    page = reader.get(f"/chats/{chat.id}").text
    assert "<script>alert" not in page


def test_the_page_speaks_the_language_that_the_browser_prefers() -> None:
    page = Client().get("/", headers={"Accept-Language": "es-MX,en;q=0.5"})
    assert '<html lang="es">' in page.text and "Haz una pregunta" in page.text
    assert page["Content-Language"] == "es" and "Accept-Language" in page["Vary"]
    assert '<html lang="en">' in Client().get("/", headers={"Accept-Language": "tlh"}).text


def test_a_chosen_language_is_remembered_on_the_same_page() -> None:
    client = Client()
    response = client.get("/chats/x?lang=es")
    assert response.status_code == 404 and "No existe esa conversación." in response.text
    response = client.get("/?lang=es")
    assert response.status_code == 302 and response["Location"] == "/"
    assert '<html lang="es">' in client.get("/", headers={"Accept-Language": "en"}).text


def test_a_language_that_is_not_offered_changes_nothing() -> None:
    response = Client().get("/?lang=xx")
    assert response.status_code == 200 and not response.cookies


def test_why_an_answer_failed_is_said_in_the_readers_language(reader: Client, user: User) -> None:
    chat = stored(user)
    failure = {"error_code": "TIMEOUT", "error_message": "The answer took too long."}
    said(chat, 2, "user", "And?")
    said(chat, 3, "assistant", "", finish_reason="error", **failure)
    page = reader.get(f"/chats/{chat.id}/thread?lang=es").text
    assert "La respuesta ha fallado: La respuesta ha tardado demasiado." in page


def test_the_catalog_holds_the_words_of_the_scripts_in_the_language_asked_for() -> None:
    script = Client().get("/catalog.js?lang=es")
    assert script["Content-Type"].startswith("text/javascript")
    assert "Respondiendo" in script.text
    assert "Respondiendo" not in Client().get("/catalog.js?lang=en").text


@pytest.mark.parametrize("path", ["/api/chats/x", "/docs/nonsense/"])
def test_programs_and_the_documentation_are_answered_in_english(path: str) -> None:
    response = Client().get(path, headers={"Accept-Language": "es"})
    assert "There is no" in response.text and "Content-Language" not in response


def test_the_service_worker_lies_at_the_root_and_is_always_asked_for_anew() -> None:
    script = Client().get("/worker.js")
    assert script["Content-Type"].startswith("text/javascript")
    assert script["Cache-Control"] == "no-cache" and "respondWith" in script.text


def test_the_page_is_read_only(reader: Client) -> None:
    assert reader.post("/").status_code == 405
