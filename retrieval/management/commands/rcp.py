"""manage.py rcp: this search engine over stdin and stdout, for a client that starts it."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from retrieval.handlers.server import local_server


class Command(BaseCommand):
    help = "Serve the Retrieval Context Protocol over stdin and stdout until stdin ends."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--read-only", action="store_true", help="Offer no index/add and no index/delete."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        local_server(writable=not options["read_only"]).serve_stdio()
