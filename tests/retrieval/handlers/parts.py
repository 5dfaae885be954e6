"""Backends for the tests of the handlers, chosen in settings by their path."""

from __future__ import annotations

from collections.abc import Sequence

from retrieval.embedding.base import Vector
from retrieval.embedding.errors import EmbedderUnavailable
from retrieval.embedding.minilm import MiniLMEmbedder


class SwitchedOff(MiniLMEmbedder):
    """Is known, with its dimension and identity, and does not work."""

    def embed_passages(self, texts: Sequence[str]) -> Vector:
        raise EmbedderUnavailable("it is switched off")

    def embed_query(self, text: str) -> Vector:
        raise EmbedderUnavailable("it is switched off")


class NotThere:
    """Not even its dimension is known."""

    there = False

    @property
    def identity(self) -> str:
        raise EmbedderUnavailable("there are no weights")

    @property
    def dimension(self) -> int:
        raise EmbedderUnavailable("there are no weights")

    def embed_query(self, text: str) -> Vector:
        raise EmbedderUnavailable("there are no weights")

    embed_passages = embed_query

    def weight(self, language: str) -> float:
        return 1.0


class ByLength:
    """A reranker: the longer the better."""

    def rerank(self, query: str, passages: Sequence[str]) -> list[float]:
        return [float(len(passage)) for passage in passages]
