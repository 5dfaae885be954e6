"""Loads the swappable parts that `conf()` names, the way Django loads caches.

Below: conf. Above: chats.generation, retrieval.embedding, retrieval.reranking. One instance a
process and configuration.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.core.signals import setting_changed
from django.utils.module_loading import import_string

from fastrag_site.conf import Backend, conf


@lru_cache(maxsize=8)
def load_backend(key: str) -> Any:
    """The instance that conf names under `key` ("chat_model", "embedder", "reranker"), or None."""
    spec: Backend | None = getattr(conf(), key)
    return None if spec is None else build_backend(key, spec)


def build_backend(key: str, spec: Backend) -> Any:
    """Build one backend. Raises ImproperlyConfigured that names the setting."""
    name = f"FASTRAG['{key.upper()}']"
    try:
        factory = import_string(spec["BACKEND"])
    except (KeyError, ImportError) as error:
        raise ImproperlyConfigured(f"{name}: no usable BACKEND ({error})") from error
    try:
        return factory(**spec.get("OPTIONS", {}))
    except TypeError as error:
        raise ImproperlyConfigured(f"{name}: wrong OPTIONS ({error})") from error


def _forget(*, setting: str, **_: Any) -> None:
    if setting == "FASTRAG":
        load_backend.cache_clear()


setting_changed.connect(_forget)
