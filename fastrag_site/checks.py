"""System checks of our own settings; each names the key and what is wrong with it.

Below: conf. Above: `manage.py check`, and every command that runs the checks.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import Any, get_origin, get_type_hints

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.utils.module_loading import import_string

from fastrag_site.conf import Conf, conf

BACKENDS = ("chat_model", "embedder", "reranker")
SHARES = ("answer_min_confidence", "fusion_alpha", "mmr_lambda")  # in [0, 1]
MAY_BE_ZERO = (
    *SHARES,
    "chat_temperature",
    "crawl_depth",
    "crawl_retries",
    "rewrite_seconds",
    "shutdown_grace_seconds",
)
# What may stand in a Content-Security-Policy unquoted.
ORIGIN = re.compile(r"https?://(?:\*\.)?[a-z0-9]([a-z0-9.-]*[a-z0-9])?(?::\d{1,5})?")


@register()
def check_fastrag(app_configs: Sequence[AppConfig] | None = None, **_: Any) -> list[CheckMessage]:
    try:
        current = conf()
    except (TypeError, ValueError) as error:
        return [
            Error(str(error), hint="Keys and defaults: fastrag_site/conf.py.", id="fastrag.E001")
        ]
    found = [*_values(current)]
    return found or [*_relations(current), *_backends(current)]


@register(Tags.security, deploy=True)
def check_deployment(
    app_configs: Sequence[AppConfig] | None = None, **_: Any
) -> list[CheckMessage]:
    if settings.HTTPS or settings.DEBUG:
        return []
    hint = "Set HTTPS=true where the site is reached over TLS only."
    return [Warning("Session cookies may travel unencrypted.", hint=hint, id="fastrag.W010")]


def _values(current: Conf) -> Iterator[CheckMessage]:
    """Types, signs and ranges of the plain values."""
    types = get_type_hints(Conf)
    for field in fields(Conf):
        key, kind = field.name, types[field.name]
        name, value = f"FASTRAG['{key.upper()}']", getattr(current, key)
        if key in BACKENDS:
            continue
        if not _fits(value, kind):
            # What conf keeps out of its own representation may be a secret.
            shown = repr(value) if field.repr else f"of type {type(value).__name__}"
            message = f"{name} is {shown}, not {getattr(kind, '__name__', kind)}."
            yield Error(message, id="fastrag.E002")
        elif key in SHARES and not 0 <= value <= 1:
            yield Error(f"{name} is {value!r}, not between 0 and 1.", id="fastrag.E003")
        elif _is_number(value) and (value < 0 or (not value and key not in MAY_BE_ZERO)):
            yield Error(f"{name} is {value!r}: it has to be positive.", id="fastrag.E003")


def _fits(value: object, expected: Any) -> bool:
    if expected is float:
        return _is_number(value)
    if expected is int:
        return isinstance(value, int) and not isinstance(value, bool)
    if get_origin(expected) is Sequence:
        return isinstance(value, list | tuple)  # and not a text
    return not inspect.isclass(expected) or isinstance(value, expected)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _relations(current: Conf) -> Iterator[CheckMessage]:
    for origin in current.widget_origins:
        if not isinstance(origin, str) or not ORIGIN.fullmatch(origin):
            yield Error(
                f"FASTRAG['WIDGET_ORIGINS'] holds {origin!r}, which is no origin.",
                hint='"https://www.example.org" or "https://*.example.org", without a path.',
                id="fastrag.E011",
            )
    if current.heartbeat_grace < 2 * current.heartbeat_seconds:
        yield Error(
            "FASTRAG['HEARTBEAT_GRACE'] is shorter than two heartbeats.",
            hint="Answers that still run would be taken for dead.",
            id="fastrag.E004",
        )
    if current.keepalive_seconds > 60:
        yield Warning(
            "FASTRAG['KEEPALIVE_SECONDS'] is more than a minute.",
            hint="Most proxies drop a connection that is silent for so long.",
            id="fastrag.W005",
        )
    if current.chunk_target_words > current.chunk_max_words:
        yield Error(
            "FASTRAG['CHUNK_TARGET_WORDS'] is above FASTRAG['CHUNK_MAX_WORDS'].", id="fastrag.E006"
        )


def _backends(current: Conf) -> Iterator[CheckMessage]:
    """Whether each can be imported and takes its options. None is built: that may be slow."""
    for key in BACKENDS:
        spec = getattr(current, key)
        name = f"FASTRAG['{key.upper()}']"
        if spec is None and key != "chat_model":
            continue
        try:
            factory = import_string(spec["BACKEND"])
        except (KeyError, TypeError):
            hint = '{"BACKEND": "dotted.path", "OPTIONS": {…}}'
            yield Error(f"{name} names no BACKEND.", hint=hint, id="fastrag.E007")
            continue
        except ImportError as error:
            yield Error(f"{name} has no usable BACKEND: {error}", id="fastrag.E007")
            continue
        try:
            inspect.signature(factory).bind(**spec.get("OPTIONS", {}))
        except TypeError as error:
            yield Error(f"{name} has wrong OPTIONS: {error}", id="fastrag.E008")
