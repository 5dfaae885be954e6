"""The seam for search structures over chunks.

A ranking is one query against the whole index: asked for its best, or for the scores of given
chunks (fusion wants both). Below: models. Above: pipeline, ingest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from retrieval.models import Chunk

if TYPE_CHECKING:
    from retrieval.index.allowed import Allowed

Vector = NDArray[np.float32]
ChunkIds = NDArray[np.int64]  # sorted ascending
Report = Callable[[int, int], None]  # done, total


@dataclass(frozen=True, slots=True)
class Scored:
    """A chunk's score. `coverage`: how much of the query's weight its words hold, in [0, 1]."""

    chunk_id: int
    score: float
    coverage: float = 0.0


class IndexUnavailable(Exception):
    """The index cannot rank now. The message is ours and says what mends it."""


class Ranking(Protocol):
    def top(self, k: int, *, allowed: Allowed | None = None) -> list[Scored]:
        """Best first; ties by smaller id; `allowed` restricts to what it lets through.

        Raises IndexUnavailable, as `rank` does.
        """
        ...

    def at(self, chunk_ids: Sequence[int]) -> list[Scored]:
        """The scores of these chunks, as far as the index holds them, in the given order."""
        ...


class SparseIndex(Protocol):
    """Lexical ranking. `add` and `remove` run inside the caller's transaction."""

    def add(self, chunks: Sequence[Chunk], *, languages: Sequence[str]) -> None:
        """Index saved chunks (page title and section count as text); language per chunk."""
        ...

    def remove(self, chunk_ids: Sequence[int]) -> None: ...

    def rank(self, text: str, *, language: str) -> Ranking:
        """`language` "" stands for all that are indexed."""
        ...

    def search(
        self, text: str, *, language: str, k: int, allowed: Allowed | None = None
    ) -> list[Scored]: ...

    def languages(self) -> tuple[str, ...]:
        """What is indexed, most frequent first."""
        ...

    def size(self) -> int:
        """How many chunks are indexed."""
        ...

    def reconcile(self) -> None:
        """Forget chunks whose rows are gone without `remove`, as by a cascade."""
        ...

    def optimize(self) -> None:
        """Merge segments when there are many or they are mostly dead."""
        ...


class DenseIndex(Protocol):
    """Nearest vectors by cosine. `add` and `remove` run inside the caller's transaction."""

    def add(self, chunk_ids: Sequence[int], vectors: Vector) -> None: ...

    def remove(self, chunk_ids: Sequence[int]) -> None: ...

    def reset(self, dimension: int) -> None:
        """Forget all vectors, inside the caller's transaction; those to come have this length."""
        ...

    def rank(self, vector: Vector) -> Ranking: ...

    def search(self, vector: Vector, *, k: int, allowed: Allowed | None = None) -> list[Scored]:
        """Best first by cosine in [-1, 1]; ties by smaller id."""
        ...

    def vectors(self, chunk_ids: Sequence[int]) -> Mapping[int, Vector]:
        """Of those chunks that have one."""
        ...

    def size(self) -> int:
        """How many chunks have a vector."""
        ...

    def reconcile(self) -> None: ...

    def rebuild(self, progress: Report, *, anew: bool = False) -> None:
        """Make what finds vectors again from the stored ones, as far as it is missing.

        `anew`: all of it. Goes on where it was broken off. Raises IndexUnavailable.
        """
        ...

    def problem(self) -> str | None:
        """What keeps it from serving as it should, and what mends that, in words."""
        ...
