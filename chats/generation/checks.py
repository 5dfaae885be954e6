"""System checks of the chat model's settings and prompts. None asks the server: /readyz does.

Below: conf, openai_compatible.options, templates. Above: chats.apps, whose import registers them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from django.apps import AppConfig
from django.core.checks import CheckMessage, Error, Tags, Warning, register

from fastrag_site.conf import OPENAI_COMPATIBLE, conf

HINT = "docs/models.md shows the settings."
_OURS = ("chat_base_url", "chat_model_name", "chat_api_key")


@register()
def check_chat_model(
    app_configs: Sequence[AppConfig] | None = None, **_: Any
) -> list[CheckMessage]:
    """Whether an OpenAI-compatible model has all that it needs, each setting by its name."""
    given = _options_given()
    if given is None:
        return _without_effect()
    from chats.generation.openai_compatible.options import Options, merged, problems

    unknown = sorted(set(given) - {field.name for field in fields(Options)})
    if unknown:
        message = f"OPTIONS of FASTRAG_CHAT_MODEL has unknown keys: {', '.join(unknown)}."
        return [Error(message, hint=HINT, id="chats.E002")]
    return [Error(f"{found}.", hint=HINT, id="chats.E001") for found in problems(merged(given))]


@register(Tags.security, deploy=True)
def check_transport(app_configs: Sequence[AppConfig] | None = None, **_: Any) -> list[CheckMessage]:
    """Whether questions, passages and the key go to the model unencrypted."""
    given = _options_given()
    if given is None or check_chat_model():
        return []
    from chats.generation.openai_compatible.options import merged, named, travels_openly

    if not travels_openly(merged(given)):
        return []
    message = f"{named('base_url')} is an http:// address of another machine."
    hint = "The key and the questions travel unencrypted: use https:// or a private network."
    return [Warning(message, hint=hint, id="chats.W003")]


@register(Tags.templates)
def check_prompts(app_configs: Sequence[AppConfig] | None = None, **_: Any) -> list[CheckMessage]:
    """Whether the templates of prompts, which may be the owner's, can be used."""
    from chats.generation import templates

    found: list[CheckMessage] = []
    for name, render in templates.SAMPLES.items():
        try:
            shown = render()
        except Exception as error:
            message = f"The template {name} cannot be rendered: {type(error).__name__}: {error}"
            found.append(Error(message, hint=HINT, id="chats.E005"))
            continue
        missing = [sample for sample in templates.EXPECTED[name] if sample not in shown]
        if missing:
            message = f"The template {name} leaves out, or escapes: {', '.join(missing)}."
            found.append(Warning(message, hint=HINT, id="chats.W006"))
    return found


def _options_given() -> Mapping[str, Any] | None:
    """OPTIONS of the backend where it is ours, else None."""
    try:
        spec = conf().chat_model
        chosen = spec.get("BACKEND") == OPENAI_COMPATIBLE["BACKEND"]
        return {**spec.get("OPTIONS", {})} if chosen else None
    except (AttributeError, TypeError, ValueError):
        return None  # fastrag_site.checks says what is wrong


def _without_effect() -> list[CheckMessage]:
    try:
        current = conf()
    except (TypeError, ValueError):
        return []
    names = [f"FASTRAG_{key.upper()}" for key in _OURS if getattr(current, key)]
    if not names:
        return []
    message = f"{' and '.join(names)} without effect: another chat model is chosen."
    hint = "Set FASTRAG_CHAT_BASE_URL, and leave FASTRAG_CHAT_MODEL unset or name its backend."
    return [Warning(message, hint=hint, id="chats.W004")]
