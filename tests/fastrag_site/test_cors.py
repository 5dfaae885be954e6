"""Pages of other origins."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client, override_settings

pytestmark = pytest.mark.django_db
OURS = {"HTTP_ORIGIN": "https://app.example"}
ALLOWED = override_settings(CORS_ALLOWED_ORIGINS=["https://app.example"])


def preflight(client: Client, path: str, **headers: str) -> Any:
    return client.options(
        path,
        HTTP_ACCESS_CONTROL_REQUEST_METHOD="POST",
        HTTP_ACCESS_CONTROL_REQUEST_HEADERS="authorization, content-type, idempotency-key",
        **headers,  # type: ignore[arg-type]
    )


@ALLOWED
@pytest.mark.parametrize("path", ["/api/chats", "/rcp"])
def test_a_listed_origin_may_post_with_a_key(client: Client, path: str) -> None:
    response = preflight(client, path, **OURS)
    assert response["Access-Control-Allow-Origin"] == "https://app.example"
    allowed = response["Access-Control-Allow-Headers"]
    assert {"authorization", "content-type", "idempotency-key"} <= set(allowed.split(", "))
    assert "Access-Control-Allow-Credentials" not in response


@ALLOWED
def test_it_can_read_refusals_and_when_to_come_back(client: Client) -> None:
    response = client.get("/api/nothing", **OURS)  # type: ignore[arg-type]
    assert response["Access-Control-Allow-Origin"] == "https://app.example"
    assert "retry-after" in response["Access-Control-Expose-Headers"]


@ALLOWED
@pytest.mark.parametrize("origin", ["https://evil.example", "null", "https://app.example.evil"])
def test_another_origin_may_not(client: Client, origin: str) -> None:
    assert "Access-Control-Allow-Origin" not in preflight(client, "/api/chats", HTTP_ORIGIN=origin)


def test_by_default_no_origin_may(client: Client) -> None:
    assert "Access-Control-Allow-Origin" not in preflight(client, "/api/chats", **OURS)


@ALLOWED
def test_the_admin_is_for_no_other_origin(client: Client) -> None:
    assert "Access-Control-Allow-Origin" not in preflight(client, "/admin/", **OURS)
