"""manage.py reindex: vectors and their index again, from the stored chunks."""

from __future__ import annotations

import sys
import time
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from fastrag_site.commands import SiteCommand
from retrieval.index.base import IndexUnavailable
from retrieval.index.condition import vectors_problem
from retrieval.ingest.progress import reporter
from retrieval.ingest.reindexing import reindex


class Command(SiteCommand):
    help = (
        "Mend the search by meaning: compute vectors that are missing or of another embedder, and "
        "on PostgreSQL build their index. The site may run meanwhile."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--anew", action="store_true", help="build the index again even where it is whole"
        )

    def handle(self, *, anew: bool, **options: Any) -> None:
        started = time.monotonic()
        try:
            with reporter(sys.stderr) as report:
                computed, notes = reindex(report, anew=anew)
        except IndexUnavailable as error:
            raise CommandError(f"{error}.") from error
        except KeyboardInterrupt:
            raise CommandError(
                "Interrupted; what was made stays, reindex again to go on."
            ) from None
        for note in notes:
            self.stdout.write(self.style.WARNING(f"note: {note}"))
        took = time.monotonic() - started
        self.stdout.write(f"{computed} vectors computed, {took:.1f} s in all")
        if remains := vectors_problem():
            raise CommandError(f"Not mended: {remains}.")
