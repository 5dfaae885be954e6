from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from unittest import mock

import pytest
from django.test import override_settings

from fastrag_site.conf import MINILM
from retrieval.checks import check_weights
from retrieval.embedding import weights


def without_package() -> mock._patch[str]:
    return mock.patch.object(weights, "PACKAGE", "no_such_package")


def test_missing_weights_are_a_warning_that_says_how_to_get_them() -> None:
    with without_package():
        (found,) = check_weights()
    assert found.id == "retrieval.W001"
    assert "requirements-model.txt" in str(found.hint)


def test_installed_weights_are_fine() -> None:
    assert check_weights() == []


@pytest.mark.parametrize(
    "embedder",
    [
        None,
        {**MINILM, "OPTIONS": {"path": "/somewhere"}},
        {"BACKEND": "retrieval.embedding.openai_compatible.OpenAICompatibleEmbedder"},
    ],
)
def test_other_embedders_need_no_weights(embedder: Mapping[str, Any] | None) -> None:
    with without_package(), override_settings(FASTRAG={"EMBEDDER": embedder}):
        assert check_weights() == []
