"""How likely a passage bears on the question, from 0 to 1. Pure; above: pack."""

from __future__ import annotations

from retrieval.pipeline.base import Candidate


def confidence(candidate: Candidate, language: str) -> float:
    return candidate.coverage
