from __future__ import annotations

import pytest

from retrieval.pipeline.base import Candidate, Prepared
from retrieval.pipeline.confidence import confidence
from retrieval.types import Query

MINILM = (0.2, 0.6)


def of(
    coverage: float,
    dense: float | None = None,
    *,
    language: str = "en",
    cosine_range: tuple[float, float] | None = MINILM,
) -> float:
    prepared = Prepared(
        query=Query(text="q"),
        text="q",
        language=language,
        alpha=0.5,
        candidate_k=10,
        cosine_range=cosine_range,
    )
    return confidence(Candidate(chunk_id=1, page_id=1, dense=dense, coverage=coverage), prepared)


def test_words_and_meaning_that_agree_are_trusted() -> None:
    assert of(0.9, 0.6) > 0.95
    assert of(0.2, 0.2) < 0.05


def test_each_sign_makes_up_for_the_other() -> None:
    assert of(0.5, 0.6) > 0.5
    assert of(1.0, 0.3) > 0.5


def test_more_of_either_is_never_less_confidence() -> None:
    assert of(0.3, 0.5) < of(0.4, 0.5) < of(0.4, 0.6)


@pytest.mark.parametrize(
    ("language", "unsure", "sure"),
    [("en", 0.3, 0.7), ("ru", 0.3, 0.7), ("zh", 0.12, 0.4), ("ja", 0.12, 0.4), ("th", 0.4, 0.7)],
)
def test_without_vectors_words_decide_by_script(language: str, unsure: float, sure: float) -> None:
    assert of(unsure, language=language) < 0.2
    assert of(sure, language=language) > 0.8


def test_a_cosine_without_a_known_range_does_not_count() -> None:
    assert of(0.4, 0.99, cosine_range=None) == of(0.4, None)


@pytest.mark.parametrize("coverage", [0.0, 1.0])
@pytest.mark.parametrize("dense", [-1.0, 0.0, 1.0, None])
def test_it_is_a_share_of_one(coverage: float, dense: float | None) -> None:
    assert 0.0 <= of(coverage, dense) <= 1.0
