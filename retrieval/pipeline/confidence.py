"""How likely a passage bears on the question, from 0 to 1. Pure; above: pack.

Two signs: the share of the query's weight that the passage's words hold, and the cosine, where the
embedder counts for the language and says what its cosines mean. benchmarks/confidence.py measures
the curves on questions whose answer is there, and on the same ones with it taken away.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp

from retrieval.pipeline.base import Candidate, Prepared

RELATED_WEIGHT = 0.6  # of the cosine, on the embedder's own scale, beside the words


@dataclass(frozen=True, slots=True)
class Curve:
    """A logistic curve: 0.5 at `middle`."""

    middle: float
    steepness: float

    def at(self, value: float) -> float:
        exponent = self.steepness * (self.middle - value)
        return 1.0 / (1.0 + exp(min(50.0, max(-50.0, exponent))))


WITH_VECTORS = Curve(0.88, 9.0)
BY_WORDS = Curve(0.475, 13.0)
# Pairs of characters: most of those that cross the border of two words are found nowhere else.
_BY_PAIRS = {
    **dict.fromkeys(("zh", "ja"), Curve(0.268, 30.0)),
    **dict.fromkeys(("th", "lo", "km", "my"), Curve(0.565, 25.0)),
    "ko": Curve(0.38, 20.0),
}


def confidence(candidate: Candidate, prepared: Prepared) -> float:
    if candidate.dense is None or prepared.cosine_range is None:
        return _BY_PAIRS.get(prepared.language, BY_WORDS).at(candidate.coverage)
    low, high = prepared.cosine_range
    related = (candidate.dense - low) / (high - low)
    return WITH_VECTORS.at(RELATED_WEIGHT * related + candidate.coverage)
