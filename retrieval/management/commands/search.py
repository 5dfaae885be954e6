"""manage.py search "…": what is found for a question, with scores."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandError

from fastrag_site.commands import SiteCommand
from fastrag_site.conf import conf
from retrieval.services import search
from retrieval.types import Hit, Mode, Query, Retrieved

SHOWN = 280  # characters of a passage


class Command(SiteCommand):
    help = "Search the indexed pages."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("text", nargs="+", metavar="TEXT")
        parser.add_argument("-k", type=int, default=8, help="hits to show (default: 8)")
        parser.add_argument("--mode", choices=[mode.value for mode in Mode], default="hybrid")
        parser.add_argument("--json", action="store_true", help="print the result as JSON")

    def handle(self, *, text: list[str], k: int, mode: str, **options: Any) -> None:
        if not 1 <= k <= conf().search_max_k:
            raise CommandError(f"-k must be between 1 and {conf().search_max_k}")
        found = search(Query(text=" ".join(text), k=k, mode=Mode(mode)))
        if options["json"]:
            self.stdout.write(json.dumps(asdict(found), ensure_ascii=False, default=sorted))
            return
        for number, hit in enumerate(found.hits, 1):
            self._show(number, hit)
        self._conclude(found)

    def _show(self, number: int, hit: Hit) -> None:
        where = " › ".join((hit.title, *hit.section))
        self.stdout.write(self.style.MIGRATE_HEADING(f"{number}. {where}"))
        self.stdout.write(f"   {hit.url}{f'#{hit.anchor}' if hit.anchor else ''}")
        legs = (("dense", hit.scores.dense), ("sparse", hit.scores.sparse))
        parts = [f"score {hit.score:.3f}", f"confidence {hit.confidence:.2f}"]
        parts += [f"{name} {score:.3f}" for name, score in legs if score is not None]
        self.stdout.write(f"   {'  '.join(parts)}")
        text = " ".join(hit.text.split())
        self.stdout.write(f"   {text[:SHOWN]}{' …' if len(text) > SHOWN else ''}")

    def _conclude(self, found: Retrieved) -> None:
        self.stdout.write(
            f"{len(found.hits)} of {found.candidates} candidates, "
            f"confidence {found.confidence:.2f}, {found.latency_ms:.0f} ms"
        )
        for note in found.notes:
            self.stderr.write(note)
