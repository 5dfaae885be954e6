"""An embedder that prints, warns and logs, as libraries do."""

from __future__ import annotations

import logging
import os
import sys
import warnings
from collections.abc import Sequence

import numpy as np

from retrieval.embedding.base import Vector

print("printed while it is imported")


class LoudEmbedder:
    identity = "loud-1"
    dimension = 2

    def embed_passages(self, texts: Sequence[str]) -> Vector:
        print("printed")
        sys.stdout.write("written\n")
        os.write(1, b"written by a library in C\n")
        warnings.warn("warned", stacklevel=1)
        logging.getLogger("loud").error("logged")
        return np.tile(np.asarray([1.0, 0.0], np.float32), (len(texts), 1))

    def embed_query(self, text: str) -> Vector:
        return self.embed_passages([text])[0]

    def weight(self, language: str) -> float:
        return 1.0
