"""What answers cost, by day: counts, tokens, times. Reads an index over a bounded range of days.

Below: models. Above: the admin.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from django.db.models import Avg, Count, Q, Sum
from django.utils import timezone

from chats.events import FinishReason
from chats.models import Message

RANGES = (7, 30, 90)  # days


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    """`prompt_tokens` and `completion_tokens`: of the answers whose model told."""

    day: date
    answers: int = 0
    failed: int = 0
    interrupted: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    first_token_ms: float | None = None  # mean
    duration_ms: float | None = None  # mean


def usage_by_day(days: int) -> list[Day]:
    """The last so many days, today first; each day that had answers.

    One query a day: to group by day, SQLite would call Python for every answer.
    """
    today = timezone.localdate()
    found = (_usage_of(today - timedelta(days=back)) for back in range(days))
    return [day for day in found if day.answers]


def _usage_of(day: date) -> Day:
    start, end = (
        timezone.make_aware(datetime.combine(date_, time.min))
        for date_ in (day, day + timedelta(days=1))
    )
    answers = Message.objects.filter(
        role=Message.Role.ASSISTANT, created_at__gte=start, created_at__lt=end
    )
    row = answers.aggregate(
        all=Count("role"),
        failed=Count("role", filter=Q(finish_reason=FinishReason.ERROR)),
        interrupted=Count("role", filter=Q(finish_reason=FinishReason.INTERRUPTED)),
        prompt=Sum("prompt_tokens", default=0),
        completion=Sum("completion_tokens", default=0),
        first_token=Avg("first_token_ms"),
        duration=Avg("duration_ms"),
    )
    return Day(
        day=day,
        answers=row["all"],
        failed=row["failed"],
        interrupted=row["interrupted"],
        prompt_tokens=row["prompt"],
        completion_tokens=row["completion"],
        first_token_ms=row["first_token"],
        duration_ms=row["duration"],
    )


def total_of(days: list[Day]) -> dict[str, int]:
    return {
        name: sum(getattr(day, name) for day in days)
        for name in ("answers", "failed", "interrupted", "prompt_tokens", "completion_tokens")
    }
