"""What each RCP session was shown, in the database, so that all workers know it.

Below: models, conf. Above: retrieve. A session is its owner's: nobody else's id meets it. It ends
when nothing was asked in it for a while.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from fastrag_site.conf import conf
from retrieval.models import Trajectory

MAX_SHOWN = 5_000  # ids that a session remembers; the oldest go first
SWEPT_AT_ONCE = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    chunk_ids: frozenset[int] = frozenset()
    page_ids: frozenset[int] = frozenset()  # as whole documents


def trajectory_get(*, owner: str, session: str) -> Shown:
    found = Trajectory.objects.filter(owner=owner, session=session, used_at__gt=_oldest()).first()
    if found is None:
        return Shown()
    return Shown(chunk_ids=frozenset(found.chunk_ids), page_ids=frozenset(found.page_ids))


def trajectory_extend(
    *, owner: str, session: str, chunk_ids: Sequence[int], page_ids: Sequence[int]
) -> None:
    """Remember what was shown now; sessions that are over are forgotten on the way."""
    with transaction.atomic():
        row, _ = Trajectory.objects.get_or_create(
            owner=owner, session=session, defaults={"used_at": timezone.now()}
        )
        row = Trajectory.objects.select_for_update().get(pk=row.pk)
        if row.used_at <= _oldest():
            row.chunk_ids, row.page_ids = [], []
        row.chunk_ids = _joined(row.chunk_ids, chunk_ids)
        row.page_ids = _joined(row.page_ids, page_ids)
        row.used_at = timezone.now()
        row.save()
    over = Trajectory.objects.filter(used_at__lte=_oldest()).values("pk")[:SWEPT_AT_ONCE]
    Trajectory.objects.filter(pk__in=list(over.values_list("pk", flat=True))).delete()


def _joined(before: Iterable[int], now: Iterable[int]) -> list[int]:
    return list(dict.fromkeys((*before, *now)))[-MAX_SHOWN:]


def _oldest() -> datetime:
    return timezone.now() - timedelta(seconds=conf().rcp_session_seconds)
