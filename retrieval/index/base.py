"""The seam for search structures over chunks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from retrieval.models import Chunk

Vector = NDArray[np.float32]
ChunkIds = NDArray[np.int64]  # sorted ascending


@dataclass(frozen=True, slots=True)
class Scored:
    chunk_id: int
    score: float


class SparseIndex(Protocol):
    """Lexical ranking. `add` and `remove` run inside the caller's transaction."""

    def add(self, chunks: Sequence[Chunk], *, languages: Sequence[str]) -> None:
        """Index saved chunks (page title and section count as text); language per chunk."""
        ...

    def remove(self, chunk_ids: Sequence[int]) -> None: ...

    def search(
        self, text: str, *, language: str, k: int, allowed: ChunkIds | None = None
    ) -> list[Scored]:
        """Best first; ties by smaller id; `allowed` restricts to these chunks."""
        ...

    def optimize(self) -> None:
        """Merge segments when there are many or they are mostly dead."""
        ...


class DenseIndex(Protocol):
    """Nearest vectors by cosine. `add` and `remove` run inside the caller's transaction."""

    def add(self, chunk_ids: Sequence[int], vectors: Vector) -> None: ...

    def remove(self, chunk_ids: Sequence[int]) -> None: ...

    def search(self, vector: Vector, *, k: int, allowed: ChunkIds | None = None) -> list[Scored]:
        """Best first by cosine in [-1, 1]; ties by smaller id."""
        ...
