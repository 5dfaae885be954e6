"""The site itself as an app: API keys, checks, runserver."""

from __future__ import annotations

from django.apps import AppConfig
from django.urls import get_resolver

from fastrag_site.lifespan import started


class SiteConfig(AppConfig):
    name = "fastrag_site"
    verbose_name = "Site"

    def ready(self) -> None:
        from fastrag_site import checks  # noqa: F401  (they register themselves)

        started.connect(_import_routes, dispatch_uid="site.routes")


def _import_routes(**_: object) -> None:
    """Before the first request, which would wait for it."""
    len(get_resolver().url_patterns)
