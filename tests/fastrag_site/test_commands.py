"""manage.py apikey and runserver; and what stands where a WSGI application would."""

from __future__ import annotations

import importlib
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from django.contrib.auth.models import User
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command, get_commands
from django.test import Client
from django.urls import reverse

from fastrag_site.models import ApiKey

database = pytest.mark.django_db


def run(*arguments: str) -> str:
    output = StringIO()
    call_command("apikey", *arguments, stdout=output)
    return output.getvalue()


@pytest.fixture
def user(db: None) -> User:
    return User.objects.create_user("ann")


def test_a_new_key_is_printed_alone_and_works(user: User, client: Client) -> None:
    key = run("create", "ann", "--name", "script").strip()
    response = client.get("/api/chats", HTTP_AUTHORIZATION=f"Bearer {key}")
    assert response.status_code == 200
    row = ApiKey.objects.get()
    assert (row.name, row.user, row.expiry) == ("script", user, None)


def test_a_key_may_expire(user: User) -> None:
    run("create", "ann", "--days", "3")
    row = ApiKey.objects.get()
    assert row.expiry is not None
    assert (row.expiry - row.created).days in (2, 3)


@database
def test_an_unknown_user_is_made_only_when_told() -> None:
    with pytest.raises(CommandError, match="--create-user"):
        run("create", "bob")
    run("create", "bob", "--create-user")
    assert not User.objects.get(username="bob").has_usable_password()


@pytest.mark.parametrize("days", ["0", "-1"])
def test_a_key_cannot_be_born_dead(user: User, days: str) -> None:
    with pytest.raises(CommandError, match="--days"):
        run("create", "ann", "--days", days)


def test_listing_shows_no_secret(user: User) -> None:
    key = run("create", "ann", "--name", "script").strip()
    shown = run("list")
    assert "script" in shown
    assert key not in shown
    assert shown == run("list", "ann")


def test_a_key_may_write_only_where_that_was_said(user: User) -> None:
    run("create", "ann", "--name", "reader")
    run("create", "ann", "--name", "writer", "--write")
    assert dict(ApiKey.objects.values_list("name", "may_write")) == {
        "reader": False,
        "writer": True,
    }
    rights = {line.split("\t")[-1]: line.split("\t")[2] for line in run("list").splitlines()}
    assert rights == {"reader": "reads", "writer": "reads and writes"}


@pytest.mark.parametrize("whole", [True, False])
def test_a_key_is_revoked_by_its_beginning_or_itself(
    user: User, client: Client, whole: bool
) -> None:
    key = run("create", "ann").strip()
    other = run("create", "ann").strip()
    run("revoke", key if whole else run("list").splitlines()[-1].split("\t")[0])
    assert client.get("/api/chats", HTTP_AUTHORIZATION=f"Bearer {key}").status_code == 401
    assert client.get("/api/chats", HTTP_AUTHORIZATION=f"Bearer {other}").status_code == 200


@pytest.mark.parametrize("key", ["", "frs_", "nonsense"])
def test_revoking_what_is_not_there_says_so(user: User, key: str) -> None:
    run("create", "ann")
    with pytest.raises(CommandError):
        run("revoke", key)
    assert ApiKey.objects.count() == 1


@database
def test_the_admin_makes_a_key_and_shows_it_once(admin_client: Client, client: Client) -> None:
    admin = User.objects.get(username="admin")
    form: dict[str, Any] = {"user": admin.pk, "name": "by hand", "expiry_0": "", "expiry_1": ""}
    response = admin_client.post(reverse("admin:fastrag_site_apikey_add"), form, follow=True)
    key = response.content.decode().split("The key is ")[1].split(" ")[0]
    assert client.get("/api/chats", HTTP_AUTHORIZATION=f"Bearer {key}").status_code == 200
    changelist = admin_client.get(reverse("admin:fastrag_site_apikey_changelist"))
    assert key not in changelist.content.decode()


def test_our_runserver_is_the_one() -> None:
    assert get_commands()["runserver"] == "fastrag_site"


def test_asking_for_wsgi_says_what_to_run() -> None:
    with pytest.raises(ImproperlyConfigured, match="uvicorn fastrag_site"):
        importlib.import_module("fastrag_site.wsgi")


@database
@pytest.mark.parametrize(
    ("arguments", "host", "port"),
    [
        ((), "127.0.0.1", 8000),
        (("8001",), "127.0.0.1", 8001),
        (("0:8001",), "0.0.0.0", 8001),
        (("192.0.2.1:80",), "192.0.2.1", 80),
        (("[::1]:8001",), "::1", 8001),
        (("--ipv6",), "::1", 8000),
    ],
)
def test_runserver_listens_where_djangos_would(
    monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], host: str, port: int
) -> None:
    called: dict[str, Any] = {}
    monkeypatch.setattr(uvicorn, "run", lambda app, **options: called.update(options, app=app))
    call_command("runserver", *arguments, "--noreload", stdout=StringIO(), stderr=StringIO())
    assert (called["host"], called["port"], called["reload"]) == (host, port, False)
    assert called["app"] == "fastrag_site.asgi:application"


@database
def test_runserver_watches_our_code_and_nothing_that_the_site_writes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    called: dict[str, Any] = {}
    monkeypatch.setattr(uvicorn, "run", lambda app, **options: called.update(options))
    call_command("runserver", stdout=StringIO(), stderr=StringIO())
    assert called["reload"] is True
    names = {Path(folder).name for folder in called["reload_dirs"]}
    assert names == {"fastrag_site", "chats", "retrieval", "templates"}


def test_a_wrong_address_is_refused() -> None:
    with pytest.raises(CommandError, match="not a valid port"):
        call_command("runserver", "nonsense:x")
