"""manage.py rcp: this search engine over stdin and stdout, for a client that starts it."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from fastrag_site.commands import SiteCommand
from retrieval.handlers.server import local_server


class Command(SiteCommand):
    help = "Serve the Retrieval Context Protocol over stdin and stdout until stdin ends."
    requires_system_checks = ()  # made below, when stdout is out of the way

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--read-only", action="store_true", help="Offer no index/add and no index/delete."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        with _stdout_on_stderr():  # backends are imported and built, and may print
            self.check()
            server = local_server(writable=not options["read_only"])
        server.serve_stdio()


@contextmanager
def _stdout_on_stderr() -> Iterator[None]:
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)
