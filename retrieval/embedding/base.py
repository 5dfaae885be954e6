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
