"""manage.py demo: prepare the database, index the project's own documentation, serve it."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand

ASK = """
Ready. Ask something on {base}/, or here:

  curl -N -H 'Content-Type: application/json' \\
       -d '{{"content":"How do I index a site?"}}' {base}/api/chats

Documentation: {base}/docs/    API: {base}/api/docs    Ctrl-C stops.
"""


class Command(BaseCommand):
    help = "Index the project's own documentation and serve the site."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--port", type=int, default=8000)

    def handle(self, *, port: int, **options: Any) -> None:
        base = f"http://127.0.0.1:{port}"
        call_command("migrate", verbosity=0)
        folder = str(settings.BASE_DIR / "docs")
        call_command("sync", folder, base_url=f"{base}/docs/", strip_suffix=True)
        self.stdout.write(ASK.format(base=base))
        self.stdout.flush()
        call_command("runserver", f"127.0.0.1:{port}", use_reloader=False)
