"""What monitors see."""

from __future__ import annotations

import threading
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from django.db import OperationalError, connections
from django.test import AsyncClient, Client, override_settings

from fastrag_site import health, metrics, shutdown
from fastrag_site.errors import FastragError
from fastrag_site.streaming import EventStreamResponse
from retrieval.models import IndexState

pytestmark = pytest.mark.django_db(transaction=True)


class Unreachable:
    """A chat model whose server is down."""

    def check(self) -> None:
        raise FastragError("the model server does not answer; see FASTRAG_CHAT_MODEL")


class Reachable:
    def __init__(self, name: str = "") -> None:
        self.name = name


UNREACHABLE = {"CHAT_MODEL": {"BACKEND": f"{__name__}.Unreachable"}}
REACHABLE = {"CHAT_MODEL": {"BACKEND": f"{__name__}.Reachable"}}
MISSING = {"CHAT_MODEL": {"BACKEND": "no.such.Model"}}


@pytest.mark.parametrize("path", ["/healthz", "/healthz/"])
def test_alive_touches_no_database(
    client: Client, path: str, django_assert_num_queries: Any
) -> None:
    with django_assert_num_queries(0):
        assert client.get(path).json() == {"status": "ok"}


@override_settings(FASTRAG=REACHABLE)
def test_ready_says_ok_for_every_part(client: Client) -> None:
    response = client.get("/readyz")
    assert response.status_code == 200
    parts = ("process", "database", "index", "vectors", "chat_model")
    assert response.json() == {"status": "ok", "checks": dict.fromkeys(parts, "ok")}


@pytest.mark.parametrize(
    ("fastrag", "words"),
    [
        (UNREACHABLE, "the model server does not answer; see FASTRAG_CHAT_MODEL"),
        (MISSING, "cannot be loaded; see FASTRAG_CHAT_MODEL"),
    ],
)
def test_a_chat_model_that_is_out_names_the_setting(
    client: Client, fastrag: dict[str, Any], words: str
) -> None:
    with override_settings(FASTRAG=fastrag):
        response = client.get("/readyz")
    assert response.status_code == 503
    assert response["Retry-After"] == "5"
    assert words in response.json()["checks"]["chat_model"]
    assert response.json()["checks"]["database"] == "ok"


@override_settings(FASTRAG=REACHABLE)
def test_vectors_that_do_not_serve_are_told_but_take_nobody_out_of_service(
    client: Client,
) -> None:
    IndexState.objects.update_or_create(pk=1, defaults={"embedder": "another", "dimension": 3})
    response = client.get("/readyz")
    assert response.status_code == 200
    assert response.json()["status"] == "degraded"
    assert "run `manage.py reindex`" in response.json()["checks"]["vectors"]


@override_settings(FASTRAG=REACHABLE)
def test_a_database_that_is_down_is_named_and_says_nothing_secret(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OperationalError("password=hunter2")

    monkeypatch.setattr(type(connections["default"]), "cursor", refuse)
    response = client.get("/readyz")
    assert response.status_code == 503
    assert response.json()["checks"]["database"] == "the database is unreachable; see DATABASE_URL"
    assert "hunter2" not in response.content.decode()


@override_settings(FASTRAG=REACHABLE)
def test_a_process_that_drains_is_alive_but_not_ready(client: Client) -> None:
    shutdown.begin()
    assert client.get("/healthz").status_code == 200
    response = client.get("/readyz")
    assert response.status_code == 503
    assert response.json()["checks"]["process"] == "this process is shutting down"


async def test_a_part_that_hangs_is_given_up(
    async_client: AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    go = threading.Event()
    monkeypatch.setattr(health, "CHECK_SECONDS", 0.02)
    monkeypatch.setattr(health, "CHECKS", {"database": lambda: go.wait(10)})
    response: Any = await async_client.get("/readyz")
    go.set()
    assert response.status_code == 503
    assert response.json()["checks"] == {
        "database": "no answer within 0.02 seconds; see DATABASE_URL"
    }


def value(name: str, client: Client) -> float:
    lines = client.get("/metrics").content.decode().splitlines()
    return sum(float(line.split()[-1]) for line in lines if line.startswith(name))


def test_finished_answers_are_counted_by_reason(client: Client) -> None:
    name = 'fastrag_generations_total{error_code="TIMEOUT",finish_reason="error"}'
    before = value(name, client)
    metrics.generation_finished("error", error_code="TIMEOUT", seconds=3, first_token_seconds=1)
    assert value(name, client) == before + 1


async def test_open_streams_are_counted_while_they_are_open() -> None:
    async def source() -> AsyncGenerator[bytes, None]:
        yield b"a"

    before = metrics.OPEN_STREAMS._value.get()
    frames = aiter(EventStreamResponse(source()))
    await anext(frames)
    assert metrics.OPEN_STREAMS._value.get() == before + 1
    assert [frame async for frame in frames] == []
    assert metrics.OPEN_STREAMS._value.get() == before


@override_settings(METRICS_TOKEN="a-token")
@pytest.mark.parametrize(
    ("authorization", "status"),
    [("Bearer a-token", 200), ("Bearer other", 401), ("Bearer é", 401), ("", 401)],
)
def test_metrics_may_be_behind_a_token(client: Client, authorization: str, status: int) -> None:
    assert client.get("/metrics", HTTP_AUTHORIZATION=authorization).status_code == status
