"""The retrieval app: indexed pages and the search over them."""

from __future__ import annotations

from django.apps import AppConfig


class RetrievalConfig(AppConfig):
    name = "retrieval"

    def ready(self) -> None:
        from retrieval import checks  # noqa: F401  (they register themselves)
