"""The chats app: its checks, and storing what dead workers left behind when a worker starts."""

from __future__ import annotations

from django.apps import AppConfig

from fastrag_site.lifespan import started


class ChatsConfig(AppConfig):
    name = "chats"

    def ready(self) -> None:
        from chats.generation import checks  # noqa: F401  (they register themselves)

        started.connect(_sweep, dispatch_uid="chats.sweep")


def _sweep(**_: object) -> None:
    from chats import services  # models are there only when the apps are

    services.sweep()
