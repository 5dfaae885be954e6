"""Newer passages count for more, where it is asked for."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from retrieval.pipeline.base import Candidate
from retrieval.pipeline.recency import by_recency, decay
from retrieval.types import Recency
from tests.factories import PageFactory

NOW = datetime(2026, 6, 1, tzinfo=UTC)
WEEK = timedelta(days=7)


@pytest.mark.parametrize(
    ("age", "expected"),
    [(0, 1.0), (7, 0.5), (14, 0.25), (-3, 1.0), (36_500, 0.0)],
)
def test_a_score_halves_with_every_half_life(age: int, expected: float) -> None:
    date = NOW - timedelta(days=age)
    assert decay(date, now=NOW, half_life=7) == pytest.approx(expected, abs=1e-9)


def test_what_has_no_date_keeps_its_score() -> None:
    assert decay(None, now=NOW, half_life=7) == 1.0


@pytest.mark.parametrize(("half_life", "expected"), [(5e-324, 0.0), (1e308, 1.0)])
def test_no_half_life_is_too_short_or_too_long(half_life: float, expected: float) -> None:
    assert decay(NOW - WEEK, now=NOW, half_life=half_life) == pytest.approx(expected)


@pytest.mark.django_db
def test_negative_scores_fall_as_well() -> None:
    old, new = (
        PageFactory(changed_at=NOW - 1_000 * WEEK),
        PageFactory(changed_at=NOW + 1_000 * WEEK),
    )
    candidates = [
        Candidate(chunk_id=1, page_id=old.pk, score=-1.0),
        Candidate(chunk_id=2, page_id=new.pk, score=-2.0),
        Candidate(chunk_id=3, page_id=old.pk, score=-4.0),
    ]
    aged = by_recency(candidates, Recency(field="changedAt", half_life_days=7))
    assert [candidate.chunk_id for candidate in aged] == [2, 1, 3]
    assert aged[0].score == -2.0
