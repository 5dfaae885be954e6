"""What search by meaning lacks, and how to get it: weights, vectors, their index.

Below: conf, weights, index. Above: retrieval.apps registers them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.core.checks import CheckMessage, Tags, Warning, register
from django.db import DatabaseError

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


@register(Tags.database)
def check_vectors(
    app_configs: Sequence[AppConfig] | None = None,
    databases: Sequence[str] | None = None,
    **_: Any,
) -> list[CheckMessage]:
    """Run by `migrate`, and by `check --database default`."""
    from retrieval.index.condition import vectors_problem

    if not databases:
        return []
    try:
        problem = vectors_problem()
    except (DatabaseError, TypeError, ValueError):
        return []  # not migrated yet, or not configured: others say so
    if problem is None:
        return []
    return [
        Warning(
            f"Search by meaning does not work as it should: {problem}.",
            hint="Meanwhile pages are searched by words, or by all vectors one by one.",
            id="retrieval.W002",
        )
    ]
