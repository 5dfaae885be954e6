"""How the admin shows the outcome of syncs. Below: models, django-tasks. Above: admin."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django_tasks import TaskResultStatus
from django_tasks_db.models import DBTaskResult

from retrieval.models import Site
from retrieval.tasks import TASK_PATHS

NO_WORKER = "A worker does the work; if none runs, start one: python manage.py db_worker"
WAITS_TOO_LONG = timedelta(seconds=30)
COUNTS = ("fetched", "new", "changed", "unchanged", "pruned", "chunks", "seconds")


def outcome(site: Site) -> str:
    """The last outcome in words, with what to do where something is wrong."""
    if site.last_outcome == Site.Outcome.RUNNING:
        if site.leased_until is None or site.leased_until < timezone.now():
            return "broke off; sync again to continue"
        return "running"
    if failure := site.last_summary.get("failure"):
        return f"failed: {failure}"
    return str(site.get_last_outcome_display())


def summary_table(summary: Mapping[str, Any]) -> SafeString | str:
    if not summary:
        return "–"
    return format_html(
        "<table>{}</table>",
        format_html_join("", "<tr><th>{}</th><td>{}</td></tr>", _rows(summary)),
    )


def _rows(summary: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if failure := summary.get("failure"):
        yield "failure", str(failure)
    for name in COUNTS:
        yield name, str(summary.get(name, "–"))
    examples = summary.get("examples", {})
    for reason, count in summary.get("skipped", {}).items():
        yield f"skipped: {reason}", f"{count} ({', '.join(examples.get(reason, []))})"


def syncs_stuck() -> int:
    """How many tasks wait although no worker is busy; 0 while one works."""
    ours = DBTaskResult.objects.filter(task_path__in=TASK_PATHS)
    late = ours.filter(
        status=TaskResultStatus.READY, enqueued_at__lt=timezone.now() - WAITS_TOO_LONG
    )
    waiting = late.values("pk")[:100].count()
    if waiting and DBTaskResult.objects.filter(status=TaskResultStatus.RUNNING).exists():
        return 0
    return waiting
