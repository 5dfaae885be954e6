"""Embedders for tests: tiny, deterministic, with real arithmetic."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np
from django.db import connection

from retrieval.embedding.base import Vector
from retrieval.embedding.errors import EmbedderUnavailable
from retrieval.index.words import forms

DIMENSION = 32


class HashEmbedder:
    """Texts that share words are near. Refuses to run inside a transaction of more than a test."""

    def __init__(
        self, *, identity: str = "hash-1", languages: Sequence[str] = ("en",), fails: bool = False
    ) -> None:
        self.identity = identity
        self.dimension = DIMENSION
        self.fails = fails
        self.passages: list[str] = []
        self.depth = len(connection.savepoint_ids)
        self._languages = languages

    def embed_passages(self, texts: Sequence[str]) -> Vector:
        assert len(connection.savepoint_ids) <= self.depth, "a model call inside a transaction"
        self.passages.extend(texts)
        return np.stack([self.embed_query(text) for text in texts])

    def embed_query(self, text: str) -> Vector:
        if self.fails:
            raise EmbedderUnavailable("it is switched off")
        vector = np.full(DIMENSION, 0.01, dtype=np.float32)
        for form in forms(text):
            vector[zlib.crc32(form.text.encode()) % DIMENSION] += 1.0
        return vector / np.float32(np.linalg.norm(vector))

    def weight(self, language: str) -> float:
        return 1.0 if language in self._languages else 0.0
