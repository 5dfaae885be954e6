"""The seam for dense encoders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]


class Embedder(Protocol):
    """Encodes text as unit vectors. Safe in threads; cheap to construct, loads at first use.

    Every member may raise EmbedderUnavailable when its weights or server are out.
    """

    @property
    def identity(self) -> str:
        """Model, version and arithmetic: vectors of another identity are stale."""
        ...

    @property
    def dimension(self) -> int: ...

    def embed_passages(self, texts: Sequence[str]) -> Vector:
        """(n,) texts → (n, dimension) float32, rows of unit length."""
        ...

    def embed_query(self, text: str) -> Vector:
        """One text → (dimension,) float32 of unit length."""
        ...

    def weight(self, language: str) -> float:
        """How far the dense leg counts for a language ("" unknown), from 0 to 1, its full share."""
        ...


def cosine_range(model: Embedder) -> tuple[float, float] | None:
    """What the model's cosines mean, by its optional attribute of this name.

    Two cosines of the best passage: for questions that no page answers, and that a page does. None
    where nobody has measured them: confidence then goes by words alone.
    """
    found: tuple[float, float] | None = getattr(model, "cosine_range", None)
    return found
