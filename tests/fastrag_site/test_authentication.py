"""Keys, sessions, anonymous callers, and pages that post in their name."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client, override_settings

from fastrag_site.authentication import is_trusted
from fastrag_site.models import ApiKey

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.urls("tests.fastrag_site.probe.policy_urls"),
]
JSON = "application/json"
CLOSED = {"ALLOW_ANONYMOUS": False}


@pytest.fixture
def user() -> User:
    return User.objects.create_user("ann", password="pass")


@pytest.fixture
def browser() -> Client:
    """A client that is checked as a browser is."""
    return Client(enforce_csrf_checks=True)


def post(client: Client, **headers: Any) -> Any:
    return client.post("/api/echo", {"content": "a"}, content_type=JSON, **headers)


def code(response: Any) -> str:
    return str(response.json()["error"]["code"])


def bearer(key: str) -> dict[str, str]:
    return {"HTTP_AUTHORIZATION": f"Bearer {key}"}


def test_a_key_acts_for_its_user_without_csrf(browser: Client, user: User) -> None:
    _, key = ApiKey.objects.create(user=user, name="script")
    assert post(browser, **bearer(key)).json()["owner"] == f"user:{user.pk}"
    assert "Set-Cookie" not in post(browser, **bearer(key)).headers


def test_only_a_hash_of_a_key_is_stored(user: User) -> None:
    row, key = ApiKey.objects.create(user=user, name="script")
    assert key.startswith("frs_")
    assert key not in {str(value) for value in vars(row).values()}


@pytest.mark.parametrize("key", ["", "nonsense", "frs_" + "0" * 64, "é", "two words", "x" * 5000])
def test_a_wrong_key_is_refused_even_where_anyone_may_ask(browser: Client, key: str) -> None:
    response = post(browser, **bearer(key))
    assert (response.status_code, code(response)) == (401, "NOT_AUTHENTICATED")


def test_an_expired_key_and_a_key_of_a_closed_account_are_refused(
    browser: Client, user: User
) -> None:
    _, expired = ApiKey.objects.create(user=user, name="old", expiry=timedelta(seconds=-1))
    assert post(browser, **bearer(expired)).status_code == 401
    _, key = ApiKey.objects.create(user=user, name="new")
    User.objects.update(is_active=False)
    assert post(browser, **bearer(key)).status_code == 401


def test_anyone_may_ask_without_a_cookie(browser: Client) -> None:
    response = post(browser)
    assert response.status_code == 200
    assert response.json()["owner"].startswith("session:")
    cookie = response.cookies["sessionid"]
    assert cookie["samesite"] == "Lax"
    assert cookie["httponly"]


def test_an_anonymous_caller_is_recognised_by_the_cookie_and_others_are_others(
    browser: Client,
) -> None:
    first = post(browser).json()["owner"]
    assert post(browser).json()["owner"] == first
    assert browser.get("/api/echo").json()["owner"] == first
    assert post(Client()).json()["owner"] != first


def test_reading_sets_no_cookie(browser: Client) -> None:
    response = browser.get("/api/echo")
    assert response.json()["owner"] == "session:nobody"
    assert not response.cookies


def test_the_owner_of_a_session_is_not_its_key(browser: Client) -> None:
    response = post(browser)
    assert response.cookies["sessionid"].value not in response.json()["owner"]


@override_settings(FASTRAG=CLOSED)
def test_nobody_asks_anonymously_where_that_is_off(browser: Client, user: User) -> None:
    for response in (post(browser), browser.get("/api/echo")):
        assert (response.status_code, code(response)) == (401, "NOT_AUTHENTICATED")
    _, key = ApiKey.objects.create(user=user, name="script")
    assert post(browser, **bearer(key)).status_code == 200


def test_a_signed_in_session_needs_the_csrf_token(browser: Client, user: User) -> None:
    browser.force_login(user)
    assert browser.get("/api/echo").json()["owner"] == f"user:{user.pk}"
    response = post(browser)
    assert (response.status_code, code(response)) == (403, "CSRF_FAILED")
    browser.get("/admin/login/")
    token = "x" * 32
    browser.cookies["csrftoken"] = token
    assert post(browser, HTTP_X_CSRFTOKEN=token).json()["owner"] == f"user:{user.pk}"


@pytest.mark.parametrize("method", ["post", "put", "delete"])
def test_a_foreign_page_cannot_use_an_anonymous_session(browser: Client, method: str) -> None:
    post(browser)
    response = getattr(browser, method)(
        "/api/echo", {"a": 1}, content_type=JSON, HTTP_ORIGIN="https://evil.example"
    )
    assert (response.status_code, code(response)) == (403, "CSRF_FAILED")


@pytest.mark.parametrize("origin", ["http://testserver", "https://testserver"])
def test_our_own_page_can(browser: Client, origin: str) -> None:
    post(browser)
    assert post(browser, HTTP_ORIGIN=origin).status_code == 200


def test_a_foreign_page_without_a_session_is_a_stranger_as_any(browser: Client) -> None:
    assert post(browser, HTTP_ORIGIN="https://evil.example").status_code == 200


@pytest.mark.parametrize(
    ("origin", "trusted"),
    [
        ("https://app.example", True),
        ("https://sub.wild.example", True),
        ("https://cors.example:8443", True),
        ("http://app.example", False),
        ("https://app.example.evil", False),
        ("https://notwild.example", False),
        ("https://cors.example", False),
        ("null", False),
        ("", False),
        ("https://", False),
    ],
)
@override_settings(
    CSRF_TRUSTED_ORIGINS=["https://app.example", "https://*.wild.example"],
    CORS_ALLOWED_ORIGINS=["https://cors.example:8443"],
)
def test_origins_that_the_operator_listed_are_trusted(origin: str, trusted: bool) -> None:
    assert is_trusted(origin, host="here.example") is trusted
