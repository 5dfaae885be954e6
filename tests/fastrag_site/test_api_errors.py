"""Every refusal has one shape, and none says more than it may."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from fastrag_site.errors import ChatBusy
from tests.fastrag_site.probe.policy_urls import FAILURES, SECRET

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.urls("tests.fastrag_site.probe.policy_urls"),
]

EXPECTED = {
    "parse": (400, "MALFORMED_JSON"),
    "not-authenticated": (401, "NOT_AUTHENTICATED"),
    "authentication-failed": (401, "NOT_AUTHENTICATED"),
    "drf-denied": (403, "PERMISSION_DENIED"),
    "django-denied": (403, "PERMISSION_DENIED"),
    "drf-not-found": (404, "NOT_FOUND"),
    "http404": (404, "NOT_FOUND"),
    "throttled": (429, "RATE_LIMITED"),
    "too-big": (413, "PAYLOAD_TOO_LARGE"),
    "suspicious": (400, "VALIDATION_ERROR"),
    "django-invalid": (400, "VALIDATION_ERROR"),
    "database": (503, "SERVICE_UNAVAILABLE"),
    "bug": (500, "INTERNAL_ERROR"),
    "generation": (500, "INTERNAL_ERROR"),
    "busy": (409, "CHAT_BUSY"),
    "generations": (429, "TOO_MANY_GENERATIONS"),
    "chat": (404, "CHAT_NOT_FOUND"),
}


@pytest.fixture
def client() -> Client:
    return Client(raise_request_exception=False)


def refusal(response: Any) -> tuple[int, str]:
    assert response["Content-Type"] == "application/json"
    return response.status_code, response.json()["error"]["code"]


def test_every_kind_of_failure_has_an_expectation() -> None:
    assert FAILURES.keys() == EXPECTED.keys()


@pytest.mark.parametrize("accept", ["*/*", "text/event-stream", "text/html", "nonsense"])
@pytest.mark.parametrize("name", FAILURES)
def test_a_failure_in_a_view_is_a_json_envelope_whatever_the_client_accepts(
    client: Client, name: str, accept: str
) -> None:
    response = client.get(f"/api/raise/{name}", HTTP_ACCEPT=accept)
    assert refusal(response) == EXPECTED[name]
    assert SECRET not in response.content.decode()


@pytest.mark.parametrize("name", ["bug", "database", "http404", "django-denied", "too-big"])
def test_a_failure_outside_of_drf_is_the_same_envelope(client: Client, name: str) -> None:
    response = client.get(f"/api/plain/{name}")
    assert refusal(response) == EXPECTED[name]
    assert SECRET not in response.content.decode()


@pytest.mark.parametrize("name", ["bug", "database", "http404", "django-denied", "too-big"])
def test_a_failure_of_a_page_is_a_plain_page(client: Client, name: str) -> None:
    response = client.get(f"/raise/{name}")
    assert response.status_code == EXPECTED[name][0]
    assert response["Content-Type"] == "text/html; charset=utf-8"
    assert SECRET not in response.content.decode()


@pytest.mark.parametrize("path", ["/api/raise/bug", "/api/plain/bug", "/api/raise/database"])
def test_a_failure_of_ours_is_logged_once_with_its_traceback(
    client: Client, caplog: pytest.LogCaptureFixture, path: str
) -> None:
    client.get(path)
    (record,) = caplog.records
    assert record.exc_info is not None
    assert SECRET in str(record.exc_info[1])


def test_a_refusal_is_not_logged_as_an_error(
    client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    client.get("/api/raise/chat")
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []


@pytest.mark.parametrize(
    ("path", "seconds"),
    [
        ("/api/raise/throttled", "13"),
        ("/api/raise/generations", "3"),
        ("/api/raise/database", "5"),
        ("/api/plain/database", "5"),
        ("/raise/database", "5"),
    ],
)
def test_who_may_come_back_is_told_when(client: Client, path: str, seconds: str) -> None:
    assert client.get(path)["Retry-After"] == seconds


def test_not_authenticated_says_how_to_authenticate(client: Client) -> None:
    assert client.get("/api/raise/not-authenticated")["WWW-Authenticate"] == "Bearer"


def test_details_of_a_conflict_are_shown(client: Client) -> None:
    assert client.get("/api/raise/busy").json()["error"] == {
        "code": "CHAT_BUSY",
        "message": ChatBusy.default_message,
        "details": {"message_id": "m1"},
    }


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({}, {"content": ["This field is required."]}),
        ({"content": None}, {"content": ["This field may not be null."]}),
        ({"content": "toolong"}, {"content": ["Ensure this field has no more than 5 characters."]}),
        ({"content": "body"}, {"body": ["Not as a whole."]}),
        ({"content": "a", "parts": [{}]}, {"parts.0.start": ["This field is required."]}),
        ([], {"body": ["Invalid data. Expected a dictionary, but got list."]}),
        ("null", {"body": ["No data provided"]}),
    ],
)
def test_what_is_wrong_is_said_by_field(client: Client, body: Any, fields: Any) -> None:
    response = client.post("/api/validate", body, content_type="application/json")
    assert refusal(response) == (400, "VALIDATION_ERROR")
    assert response.json()["error"]["fields"] == fields


def test_an_unknown_address_of_the_api_is_a_json_404_for_every_method(client: Client) -> None:
    strict = Client(enforce_csrf_checks=True)
    for method in ("get", "post", "put", "patch", "delete"):
        assert refusal(getattr(strict, method)("/api/nothing/here")) == (404, "NOT_FOUND")
    assert refusal(client.get("/api")) == (404, "NOT_FOUND")


@pytest.mark.parametrize("debug", [True, False])
def test_it_is_json_in_debug_as_well(client: Client, settings: Any, debug: bool) -> None:
    settings.DEBUG = debug
    assert refusal(client.get("/api/nothing")) == (404, "NOT_FOUND")
    assert refusal(client.get("/api/raise/bug")) == (500, "INTERNAL_ERROR")


def test_an_unknown_page_is_a_plain_404(client: Client) -> None:
    response = client.get("/nothing")
    assert response.status_code == 404
    assert response["Content-Type"] == "text/html; charset=utf-8"


def test_a_method_that_the_route_does_not_take(client: Client) -> None:
    response = client.patch("/api/echo", {}, content_type="application/json")
    assert refusal(response) == (405, "METHOD_NOT_ALLOWED")
    assert "POST" in response["Allow"]


@pytest.mark.parametrize(
    "content_type",
    ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""],
)
def test_a_body_that_is_not_declared_as_json(client: Client, content_type: str) -> None:
    response = client.generic("POST", "/api/echo", b"content=a", content_type=content_type)
    assert refusal(response) == (415, "UNSUPPORTED_MEDIA_TYPE")


def test_a_host_that_is_not_ours(client: Client) -> None:
    response = client.get("/api/nothing", HTTP_HOST="evil.example")
    assert refusal(response) == (400, "VALIDATION_ERROR")
    assert list(response.json()["error"]["fields"]) == ["host"]


def test_what_is_suspicious_in_a_request_is_named_as_well(client: Client) -> None:
    error = client.get("/api/raise/suspicious").json()["error"]
    assert list(error["fields"]) == ["request"]


@pytest.mark.parametrize("path", ["/api/form", "/form"])
def test_a_page_without_a_csrf_token(path: str) -> None:
    response = Client(enforce_csrf_checks=True).post(path, {"a": 1})
    assert response.status_code == 403
    assert ("CSRF_FAILED" in response.content.decode()) == path.startswith("/api")


@pytest.mark.parametrize("path", ["/api/echo", "/api/echo/"])
def test_a_trailing_slash_is_optional_and_loses_no_body(client: Client, path: str) -> None:
    response = client.post(path, {"content": "a"}, content_type="application/json")
    assert response.json()["data"] == {"content": "a"}
