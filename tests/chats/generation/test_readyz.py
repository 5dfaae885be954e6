"""`/readyz` says what is wrong with the chat model in words that name the setting."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client, override_settings

from tests.chats.generation.openai_parts import KEY
from tests.upstream import error, nobody, upstream

pytestmark = pytest.mark.django_db


def said(**fastrag: Any) -> str:
    with override_settings(FASTRAG={"EMBEDDER": None, "CHAT_API_KEY": KEY, **fastrag}):
        response = Client().get("/readyz")
    text = str(response.json()["checks"]["chat_model"])
    assert (response.status_code == 200) == (text == "ok")
    assert KEY not in text and "127.0.0.1" not in text
    return text


def test_a_model_without_a_name_is_told() -> None:
    with upstream() as server:
        text = said(CHAT_BASE_URL=server.base_url)
    assert "FASTRAG_CHAT_MODEL_NAME" in text and "is not set" in text
    assert server.requests == []


def test_a_server_out_of_reach_is_told() -> None:
    with nobody() as base_url:
        text = said(CHAT_BASE_URL=base_url, CHAT_MODEL_NAME="m")
    assert text.startswith("FASTRAG_CHAT_BASE_URL") and text.endswith("the connection is refused")


def test_a_wrong_key_is_told() -> None:
    with upstream(models=error(401)) as server:
        text = said(CHAT_BASE_URL=server.base_url, CHAT_MODEL_NAME="m")
    assert text.startswith("FASTRAG_CHAT_API_KEY") and "does not accept the key" in text


def test_a_model_that_can_be_asked_is_ok() -> None:
    with upstream() as server:
        assert said(CHAT_BASE_URL=server.base_url, CHAT_MODEL_NAME="scripted") == "ok"
