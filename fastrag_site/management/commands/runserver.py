"""manage.py runserver: uvicorn, so that development streams as production does.

Takes Django's arguments. Reloads when Python code or a template changes, also while streams are
open: they end as at any shutdown.
"""

from __future__ import annotations

from typing import Any

import uvicorn
from django.conf import settings
from django.core.management.commands import runserver
from django.db import connections

WATCHED = ("fastrag_site", "chats", "retrieval", "templates")


class Command(runserver.Command):
    help = "Starts the site for development on uvicorn: streams, static files, reload."
    addr: str
    port: str

    def run(self, **options: Any) -> None:
        if not options["skip_checks"]:
            self.check(display_num_errors=True)
        self.check_migrations()
        connections.close_all()
        reload = options["use_reloader"]
        uvicorn.run(
            "fastrag_site.asgi:application",
            host="0.0.0.0" if self.addr == "0" else self.addr,
            port=int(self.port),
            reload=reload,
            reload_dirs=[str(settings.BASE_DIR / name) for name in WATCHED] if reload else None,
            reload_includes=["*.py", "*.html"] if reload else None,
        )
