"""The seam for dense encoders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Embedder(Protocol):
    """Encodes text as unit vectors. Raises EmbedderUnavailable when its weights or server are out.

    `identity` names model and version: vectors of another identity are stale.
    """

    identity: str
    dimension: int

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(n,) texts → (n, dimension) float32, rows of unit length."""
        ...

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """One text → (dimension,) float32 of unit length."""
        ...

    def weight(self, language: str) -> float:
        """Share of the dense leg in convex fusion for a language ("" unknown), in [0, 1]."""
        ...
