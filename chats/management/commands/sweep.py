"""`manage.py sweep`: store what dead workers left behind, as interrupted answers."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from chats import services


class Command(BaseCommand):
    help = "Stores answers that a dead worker left unfinished, as interrupted."

    def handle(self, *args: Any, **options: Any) -> None:
        count = services.sweep()
        self.stdout.write(f"{count} {'answer' if count == 1 else 'answers'} stored as interrupted.")
