"""manage.py sync: index sites, sitemaps, pages and folders; without a source, all again."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, ArgumentTypeError, RawDescriptionHelpFormatter
from typing import Any

from django.core.management.base import CommandError, DjangoHelpFormatter

from fastrag_site.commands import SiteCommand
from retrieval.ingest import sync
from retrieval.ingest.progress import reporter
from retrieval.ingest.sites import COUNT_MAX, BadSource
from retrieval.ingest.summary import SiteSummary, Summary

EXAMPLES = """
examples:
  manage.py sync https://example.org/docs/
  manage.py sync https://example.org/sitemap.xml --max-pages 500
  manage.py sync docs --base-url https://example.org/docs/
  manage.py sync                       every enabled site again, for cron
"""


class Help(DjangoHelpFormatter, RawDescriptionHelpFormatter):
    """Django's order of options; the examples as they are written."""


class Command(SiteCommand):
    help = "Index sites, sitemaps, single pages and folders; without a source, all sites again."

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> Any:
        return super().create_parser(
            prog_name, subcommand, epilog=EXAMPLES, formatter_class=Help, **kwargs
        )

    def add_arguments(self, parser: ArgumentParser) -> None:
        add = parser.add_argument
        add("sources", nargs="*", metavar="SOURCE", help="address, sitemap or folder")
        add("--depth", type=_count, help="links to follow from the start page")
        add("--max-pages", type=_positive, help="stop after this many pages")
        add("--base-url", metavar="URL", help="where the folder is published")
        add("--single", action="store_true", help="the address is one page, not a site")
        add(
            "--strip-suffix",
            action="store_true",
            default=None,
            help="in a folder: foo.md is published at foo/",
        )
        add("--prune", action="store_true", help="remove unmet pages even if they are most")
        add("--no-vectors", action="store_true", help="leave the vectors for a later sync")
        add("--json", action="store_true", help="print the summary as JSON")

    def handle(self, *, sources: list[str], **options: Any) -> None:
        named = ("depth", "max_pages", "base_url", "single", "strip_suffix", "prune")
        if not sources and any(options[name] not in (None, False) for name in named[:-1]):
            raise CommandError("These options need a source; edit remembered sites in the admin.")
        try:
            with reporter(sys.stderr) as report:
                summary = sync(
                    sources or None,
                    **{name: options[name] for name in named},
                    vectors=not options["no_vectors"],
                    progress=report,
                )
        except BadSource as error:
            raise CommandError(str(error)) from error
        except KeyboardInterrupt:
            raise CommandError("Interrupted; what was stored stays, sync again to go on.") from None
        if not summary.sites:  # no failure: cron may run before the first site is there
            self.stderr.write("There is no site to sync yet. Name one: manage.py sync ADDRESS")
        if options["json"]:
            self.stdout.write(json.dumps(summary.to_dict(), ensure_ascii=False))
        else:
            self._tell(summary)
        if summary.failed:
            failed = [site.location for site in summary.sites if site.failure]
            raise CommandError(f"{len(failed)} of {len(summary.sites)} sites failed: {failed[0]}")

    def _tell(self, summary: Summary) -> None:
        for site in summary.sites:
            self._tell_site(site)
        for note in summary.notes:
            self.stdout.write(self.style.WARNING(f"note: {note}"))
        self.stdout.write(f"{summary.embedded} vectors computed, {summary.seconds:.1f} s in all")

    def _tell_site(self, site: SiteSummary) -> None:
        outcome = self.style.ERROR("failed") if site.failure else self.style.SUCCESS("ok")
        self.stdout.write(f"{site.location}: {outcome}")
        if site.failure:
            self.stdout.write(f"  {site.failure}")
        self.stdout.write(
            f"  {site.fetched} fetched: {site.new} new, {site.changed} changed, "
            f"{site.unchanged} unchanged; {site.pruned} pruned; "
            f"{site.chunks} chunks; {site.seconds:.1f} s"
        )
        for reason, count in sorted(site.skipped.items(), key=lambda item: -item[1]):
            self.stdout.write(f"  {count} skipped: {reason} ({', '.join(site.examples[reason])})")


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) > COUNT_MAX:
        raise ArgumentTypeError(f"{text!r} is not a number from 0 to {COUNT_MAX}")
    return int(text)


def _positive(text: str) -> int:
    if not (number := _count(text)):
        raise ArgumentTypeError("at least 1")
    return number
