"""The seam for models that read query and passage together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Reranker(Protocol):
    def rerank(self, query: str, passages: Sequence[str]) -> list[float]:
        """A finite score a passage, higher is better. Raises RerankerUnavailable."""
        ...
