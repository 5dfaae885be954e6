"""Cursor pages."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from fastrag_site.models import ApiKey

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.urls("tests.fastrag_site.probe.policy_urls"),
]


@pytest.fixture
def names() -> list[str]:
    user = User.objects.create_user("ann")
    keys = [ApiKey.objects.create(user=user, name=f"key {n}")[0] for n in range(5)]
    return [key.name for key in sorted(keys, key=lambda key: key.digest, reverse=True)]


def test_pages_follow_one_another_to_the_end_and_back(client: Client, names: list[str]) -> None:
    first: Any = client.get("/api/keys?limit=2").json()
    assert first == {"results": names[:2], "next": first["next"], "previous": None}
    second = client.get(first["next"]).json()
    assert second["results"] == names[2:4]
    third = client.get(second["next"]).json()
    assert (third["results"], third["next"]) == (names[4:], None)
    assert client.get(second["previous"]).json()["results"] == names[:2]


@pytest.mark.parametrize("cursor", ["nonsense", "%00", "cD1mb28%3D%3D%3D", "é"])
def test_a_made_up_cursor_is_refused_or_harmless(client: Client, cursor: str) -> None:
    response = client.get(f"/api/keys?cursor={cursor}")
    assert response.status_code in (200, 400)
    if response.status_code == 400:
        assert response.json()["error"]["code"] == "VALIDATION_ERROR"
        assert list(response.json()["error"]["fields"]) == ["cursor"]


@pytest.mark.parametrize("limit", ["0", "-1", "x", "100000", "9" * 5000])
def test_an_odd_limit_falls_back(client: Client, names: list[str], limit: str) -> None:
    assert client.get(f"/api/keys?limit={limit}").json()["results"] == names
