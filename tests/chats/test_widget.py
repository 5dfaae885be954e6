"""The widget's routes without a browser: who may frame what, and who a visitor is."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.core import signing
from django.test import Client, override_settings
from django.utils import timezone

from chats.ids import uuid7
from chats.models import Chat
from fastrag_site.visitors import new_token

pytestmark = pytest.mark.django_db
ORIGINS = ["https://a.example", "https://*.b.example"]
CHAT = "/chats/01a00000-0000-7000-8000-000000000000"


@pytest.fixture(autouse=True)
def origins() -> Iterator[None]:
    with override_settings(FASTRAG={"WIDGET_ORIGINS": ORIGINS}):
        yield


@pytest.mark.parametrize("path", ["/embed/", f"/embed{CHAT}"])
def test_a_frame_may_be_shown_by_the_listed_sites_alone(path: str) -> None:
    response = Client().get(path)
    assert response.status_code == 200 and not response.cookies
    policy = response["Content-Security-Policy"].split("; ")
    assert "frame-ancestors https://a.example https://*.b.example" in policy
    assert "default-src 'self'" in policy and "X-Frame-Options" not in response


@pytest.mark.parametrize("path", ["/", CHAT, "/admin/login/", "/docs/", "/widget.js"])
def test_everything_else_can_be_framed_by_nobody(path: str) -> None:
    response = Client().get(path)
    assert "frame-ancestors 'none'" in response["Content-Security-Policy"]
    assert response["X-Frame-Options"] == "DENY"


@pytest.mark.parametrize("path", ["/embed/", f"/embed{CHAT}", "/widget.js"])
@override_settings(FASTRAG={})
def test_without_listed_sites_there_is_no_widget(path: str) -> None:
    response = Client().get(path)
    assert response.status_code == 404
    assert "frame-ancestors 'none'" in response["Content-Security-Policy"]


def test_what_is_refused_is_said_in_the_frame() -> None:
    response = Client().get("/embed/chats/nonsense")
    assert response.status_code == 404 and 'target="_blank"' in response.text
    assert "frame-ancestors https://a.example" in response["Content-Security-Policy"]


def test_the_script_may_be_kept_and_holds_the_words_of_its_button() -> None:
    response = Client().get("/widget.js")
    assert response["Content-Type"].startswith("text/javascript")
    assert "max-age" in response["Cache-Control"] and "ETag" in response
    assert '{"en": "Ask", "es": "Preguntar"}' in response.text


def test_links_within_the_frame_keep_its_looks() -> None:
    page = Client().get("/embed/?theme=dark&lang=es&title=%22%3E").text
    assert 'href="/embed/?theme=dark&amp;lang=es&amp;title=%22%3E"' in page
    assert 'data-theme="dark"' in page and '<html lang="es"' in page
    assert '<span dir="auto">&quot;&gt;</span>' in page


@pytest.mark.parametrize(("accent", "status"), [("ffd000", 200), ("FFD000", 404), ("x;}", 404)])
def test_the_colours_of_an_accent_are_a_stylesheet(accent: str, status: int) -> None:
    assert Client().get(f"/embed/theme/{accent}.css").status_code == status


def test_a_visitor_is_known_by_the_token_alone() -> None:
    token, other = new_token(), new_token()
    chat = owned_by(token)
    found = [c["id"] for c in Client().get("/api/chats", headers=visitor(token)).json()["results"]]
    assert found == [str(chat.id)]
    for headers in (visitor(other), {}):
        assert Client().get("/api/chats", headers=headers).json()["results"] == []
        assert Client().get(f"/api/chats/{chat.id}", headers=headers).status_code == 404


@pytest.mark.parametrize("token", ["", "nonsense", signing.dumps("x", salt="another purpose")])
def test_a_token_that_is_not_ours_is_refused(token: str) -> None:
    response = Client().get("/api/chats", headers=visitor(token))
    assert response.status_code == 401
    assert response.json()["error"]["code"] == "NOT_AUTHENTICATED"


def test_a_token_is_taken_as_long_as_anonymous_chats_are_kept() -> None:
    token = new_token()
    with override_settings(FASTRAG={"WIDGET_ORIGINS": ORIGINS, "ANONYMOUS_DAYS": 0}):
        assert Client().get("/api/chats", headers=visitor(token)).status_code == 401


@override_settings(FASTRAG={})
def test_without_a_widget_tokens_mean_nothing() -> None:
    token = new_token()
    owned_by(token)
    assert Client().get("/api/chats", headers=visitor(token)).json()["results"] == []


def visitor(token: str) -> dict[str, str]:
    return {"X-Visitor": token}


def owned_by(token: str) -> Chat:
    name = signing.loads(token, salt="visitor of a frame", max_age=timedelta(days=1))
    now = timezone.now()
    values = {"title": "Mine", "created_at": now, "active_at": now}
    return Chat.objects.create(id=uuid7(), session_key=name, **values)
