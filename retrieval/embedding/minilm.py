"""The default embedder: all-MiniLM-L6-v2, or another BERT sentence encoder from a local folder.

Below: weights, bert. Above: settings name it as EMBEDDER.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from retrieval.embedding.base import Vector
from retrieval.embedding.bert import BertEncoder
from retrieval.embedding.errors import EmbedderUnavailable
from retrieval.embedding.weights import CHECKSUMS, sha256, verified_folder

COSINES = (0.2, 0.6)  # of all-MiniLM-L6-v2, measured by benchmarks/confidence.py
ARITHMETIC = "int8-1"  # part of the identity: vectors of another recipe are stale


@dataclass(frozen=True, slots=True)
class _Loaded:
    encoder: BertEncoder
    identity: str


class MiniLMEmbedder:
    """OPTIONS: `path` of a folder (config.json, vocab.txt, model.safetensors) instead of the

    packaged weights; `languages` for which it counts; prefixes that the model wants before a
    query or a passage; `max_tokens` of a passage; `cosine_range`, see base.
    """

    def __init__(
        self,
        *,
        path: str | os.PathLike[str] | None = None,
        languages: Iterable[str] = ("en",),
        query_prefix: str = "",
        passage_prefix: str = "",
        max_tokens: int | None = None,
        cosine_range: tuple[float, float] | None = None,
    ) -> None:
        self._path = None if path is None else Path(path)
        self._languages = frozenset(languages)
        self._query_prefix = query_prefix
        self._passage_prefix = passage_prefix
        self._max_tokens = max_tokens
        self.cosine_range = cosine_range or (COSINES if path is None else None)
        self._lock = threading.Lock()
        self._cached: _Loaded | None = None

    @property
    def identity(self) -> str:
        return self._loaded().identity

    @property
    def dimension(self) -> int:
        return self._loaded().encoder.dimension

    def embed_query(self, text: str) -> Vector:
        return self._loaded().encoder.encode(self._query_prefix + text)

    def embed_passages(self, texts: Sequence[str]) -> Vector:
        loaded = self._loaded()
        if not texts:
            return np.empty((0, loaded.encoder.dimension), np.float32)
        prefixed = [self._passage_prefix + text for text in texts]
        with ThreadPoolExecutor(os.cpu_count() or 1, "embed") as threads:
            return np.stack(list(threads.map(loaded.encoder.encode, prefixed)))

    def weight(self, language: str) -> float:
        return 1.0 if language in self._languages else 0.0

    def _loaded(self) -> _Loaded:
        with self._lock:
            if self._cached is None:
                self._cached = self._load()
            return self._cached

    def _load(self) -> _Loaded:
        try:
            if self._path is None:
                folder, name = verified_folder(), "all-MiniLM-L6-v2"
                version = CHECKSUMS["model.safetensors"]
            else:
                folder, name = self._path, self._path.name
                version = sha256(folder / "model.safetensors")
            encoder = BertEncoder(folder, max_tokens=self._max_tokens)
        except (OSError, ValueError, KeyError) as error:
            raise EmbedderUnavailable(
                "the model folder holds no BERT encoder that can be read"
            ) from error
        options = f"{self._max_tokens or ''}{self._passage_prefix}"
        return _Loaded(
            encoder, f"{name}/{version[:12]}/{ARITHMETIC}{options and '/'}{options}"[:200]
        )
