"""The settings that docs/models.md shows are settings that work."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.test import override_settings

from chats.generation.checks import check_chat_model
from chats.generation.openai_compatible import OpenAICompatibleModel
from chats.generation.openai_compatible.options import SETTINGS, Options
from fastrag_site.backends import load_backend
from tests.live import ROOT

PAGE = (ROOT / "docs" / "models.md").read_text()
EXAMPLES = re.findall(r"^```ini\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def settings_of(example: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for line in example.splitlines():
        name, _, value = line.partition("=")
        value = value.replace("…", "0123")
        found[name.removeprefix("FASTRAG_")] = (
            json.loads(value) if value[0] in "{0123456789" else value
        )
    return found


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_example_is_a_configuration_without_problems(example: str) -> None:
    with override_settings(FASTRAG=settings_of(example)):
        assert check_chat_model() == []
        assert isinstance(load_backend("chat_model"), OpenAICompatibleModel)


def test_every_option_and_its_variable_is_told() -> None:
    options = set(Options.__dataclass_fields__)
    assert {name for name in options if f"`{name}`" not in PAGE} == set()
    assert {key for key in SETTINGS.values() if f"`FASTRAG_{key.upper()}`" not in PAGE} == set()
