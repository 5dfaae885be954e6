"""`manage.py sweep`: store what dead workers left behind, as interrupted answers."""

from __future__ import annotations

from typing import Any

from chats import services
from fastrag_site.commands import SiteCommand


class Command(SiteCommand):
    help = "Stores answers that a dead worker left unfinished, as interrupted."

    def handle(self, *args: Any, **options: Any) -> None:
        count = services.sweep()
        self.stdout.write(f"{count} {'answer' if count == 1 else 'answers'} stored as interrupted.")
