"""The rate of requests a caller."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client, override_settings

from fastrag_site.throttling import CallerThrottle

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.urls("tests.fastrag_site.probe.policy_urls"),
]
FIVE = override_settings(FASTRAG={"REQUESTS_PER_MINUTE": 5})


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_020.0  # a third into its minute

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(CallerThrottle, "clock", clock)
    return clock


def statuses(client: Client, count: int) -> list[int]:
    return [client.get("/api/echo").status_code for _ in range(count)]


@FIVE
def test_above_the_rate_requests_are_refused_with_the_time_to_wait(
    client: Client, clock: Clock
) -> None:
    assert statuses(client, 6) == [200] * 5 + [429]
    response: Any = client.get("/api/echo")
    assert response.json()["error"]["code"] == "RATE_LIMITED"
    assert 1 <= int(response["Retry-After"]) <= 120


@FIVE
def test_after_the_time_to_wait_the_next_request_is_answered(client: Client, clock: Clock) -> None:
    statuses(client, 5)
    wait = int(client.get("/api/echo")["Retry-After"])
    clock.now += wait - 2
    assert statuses(client, 1) == [429]
    clock.now += 2
    assert statuses(client, 2) == [200, 429]


@FIVE
def test_refused_requests_do_not_lengthen_the_wait(client: Client, clock: Clock) -> None:
    statuses(client, 50)
    clock.now += 120
    assert statuses(client, 6) == [200] * 5 + [429]


@FIVE
def test_the_minute_slides(client: Client, clock: Clock) -> None:
    clock.now = 1_000_079.0  # the last second of a minute
    assert statuses(client, 5) == [200] * 5
    clock.now += 2  # the first second of the next
    assert statuses(client, 1) == [429]


@FIVE
def test_callers_are_counted_by_address_however_many_sessions_they_take(clock: Clock) -> None:
    assert [statuses(Client(), 1)[0] for _ in range(6)] == [200] * 5 + [429]
    elsewhere = Client(REMOTE_ADDR="198.51.100.7")
    assert statuses(elsewhere, 1) == [200]


@FIVE
def test_users_are_counted_by_themselves(clock: Clock, django_user_model: Any) -> None:
    statuses(Client(), 6)
    for name in ("ann", "bob"):
        client = Client()
        client.force_login(django_user_model.objects.create_user(name))
        assert statuses(client, 6) == [200] * 5 + [429]
