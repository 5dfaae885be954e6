"""Whether the default embedder's weights are there, and how to get them. Below: conf, weights.

Above: retrieval.apps registers it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.core.checks import CheckMessage, Warning, register

from fastrag_site.conf import MINILM, conf
from retrieval.embedding.weights import HOW_TO_GET, packaged_folder


@register()
def check_weights(app_configs: Sequence[AppConfig] | None = None, **_: Any) -> list[CheckMessage]:
    """Only that the files are there: their checksums are compared at first use."""
    try:
        spec = conf().embedder
    except (TypeError, ValueError):
        return []  # fastrag_site.checks says what is wrong
    packaged = (
        isinstance(spec, dict)
        and spec.get("BACKEND") == MINILM["BACKEND"]
        and not spec.get("OPTIONS", {}).get("path")
    )
    if not packaged or packaged_folder() is not None:
        return []
    return [
        Warning(
            "The embedder's weights are not installed; pages are searched by words alone.",
            hint=f"{HOW_TO_GET}, or FASTRAG_EMBEDDER=null to search by words on purpose.",
            id="retrieval.W001",
        )
    ]
