"""The chats app: its checks, and what a worker does before it takes questions."""

from __future__ import annotations

import contextlib

from django.apps import AppConfig
from django.core.exceptions import ImproperlyConfigured

from fastrag_site.backends import load_backend
from fastrag_site.lifespan import started


class ChatsConfig(AppConfig):
    name = "chats"

    def ready(self) -> None:
        from chats.generation import checks  # noqa: F401  (they register themselves)

        started.connect(_sweep, dispatch_uid="chats.sweep")
        started.connect(_load_model, dispatch_uid="chats.model")


def _sweep(**_: object) -> None:
    from chats import services  # models are there only when the apps are

    services.sweep()


def _load_model(**_: object) -> None:
    """Before the first question, which would wait for what it imports."""
    with contextlib.suppress(ImproperlyConfigured):  # the checks have said so
        load_backend("chat_model")
