"""After the ranking, where it is asked for: newer passages count for more.

Below: models, dates. Above: run. A passage without a date keeps its score.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from django.db.models import Max
from django.utils import timezone

from retrieval.models import MetaValue, Page
from retrieval.pipeline.base import Candidate
from retrieval.pipeline.restrict import PATHS
from retrieval.types import Recency

LONGEST = 1_000.0  # half-lives; nothing is left then


def by_recency(candidates: Sequence[Candidate], recency: Recency) -> list[Candidate]:
    dates = _dates(recency.field, {candidate.page_id for candidate in candidates})
    now, half_life = timezone.now(), recency.half_life_days
    # A reranker's scores may be negative; what is halved is the distance from the worst.
    floor = min((0.0, *(candidate.score for candidate in candidates)))
    aged = [
        replace(candidate, score=floor + (candidate.score - floor) * factor)
        for candidate in candidates
        for factor in (decay(dates.get(candidate.page_id), now=now, half_life=half_life),)
    ]
    return sorted(aged, key=lambda candidate: (-candidate.score, candidate.chunk_id))


def decay(date: datetime | None, *, now: datetime, half_life: float) -> float:
    """1.0 for today and the future, half of it for each half-life (in days) that has passed."""
    if date is None or date >= now:
        return 1.0
    days = (now - date) / timedelta(days=1)
    return float(0.5 ** (days / half_life if half_life > days / LONGEST else LONGEST))


def _dates(field: str, page_ids: set[int]) -> Mapping[int, datetime]:
    if field in PATHS:
        column = PATHS[field].removeprefix("page__")
        return dict(Page.objects.filter(pk__in=page_ids).values_list("pk", column))
    values = MetaValue.objects.filter(document__in=page_ids, name=field, moment__isnull=False)
    latest = values.values("document").annotate(latest=Max("moment"))
    return dict(latest.values_list("document", "latest"))
