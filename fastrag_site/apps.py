"""The site itself as an app: API keys, checks, runserver."""

from __future__ import annotations

from django.apps import AppConfig


class SiteConfig(AppConfig):
    name = "fastrag_site"
    verbose_name = "Site"

    def ready(self) -> None:
        from fastrag_site import checks  # noqa: F401  (they register themselves)
