"""Embeddings of any server with an OpenAI-compatible `/v1/embeddings`.

    FASTRAG_EMBEDDER={"BACKEND": "retrieval.embedding.openai_compatible.OpenAICompatibleEmbedder",
                      "OPTIONS": {"base_url": "http://127.0.0.1:8080/v1", "model": "…"}}

Below: the openai package. Above: settings name it as EMBEDDER.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence

import httpx
import numpy as np
from openai import APIConnectionError, APIStatusError, APITimeoutError, OpenAI, OpenAIError

from retrieval.embedding.base import Vector
from retrieval.embedding.errors import EmbedderUnavailable

NO_KEY = "none"  # the package insists on one


class OpenAICompatibleEmbedder:
    """OPTIONS: `languages` None counts for every language; `seconds` of silence to bear;

    `max_chars` of a text that is sent; `dimensions` where the model lets one choose; prefixes that
    the model wants before a query or a passage; `cosine_range`, see base.
    """

    def __init__(
        self,
        *,
        base_url: str,
        model: str,
        api_key: str = "",
        languages: Iterable[str] | None = None,
        dimensions: int | None = None,
        batch: int = 32,
        seconds: float = 30.0,
        query_seconds: float = 5.0,
        max_chars: int = 8_000,
        query_prefix: str = "",
        passage_prefix: str = "",
        cosine_range: tuple[float, float] | None = None,
    ) -> None:
        self.identity = "/".join(
            part for part in (model, str(dimensions or ""), passage_prefix) if part
        )[:200]
        self.cosine_range = cosine_range
        self._model = model
        self._languages = None if languages is None else frozenset(languages)
        self._dimensions = dimensions
        self._batch = max(1, batch)
        self._max_chars = max_chars
        self._query_prefix, self._passage_prefix = query_prefix, passage_prefix
        self._client = _client(base_url, api_key, seconds)
        self._query_client = self._client.with_options(timeout=query_seconds, max_retries=0)
        self._lock = threading.Lock()
        self._known_dimension: int | None = None

    @property
    def dimension(self) -> int:
        """As the server's vectors have it; asks once."""
        with self._lock:
            if self._known_dimension is None:
                self._known_dimension = self._ask(self._query_client, ["dimension"]).shape[1]
            return self._known_dimension

    def embed_query(self, text: str) -> Vector:
        found = self._ask(self._query_client, [self._query_prefix + text])
        vector: Vector = found[0]
        return vector

    def embed_passages(self, texts: Sequence[str]) -> Vector:
        if not texts:
            return np.empty((0, self.dimension), np.float32)
        parts = [self._ask(self._client, part) for part in self._batches(texts)]
        if len({part.shape[1] for part in parts}) != 1:
            raise EmbedderUnavailable("the embedding server changed the length of its vectors")
        return np.concatenate(parts)

    def weight(self, language: str) -> float:
        return 1.0 if self._languages is None or language in self._languages else 0.0

    def close(self) -> None:
        self._client.close()

    def _batches(self, texts: Sequence[str]) -> Iterator[list[str]]:
        for start in range(0, len(texts), self._batch):
            yield [self._passage_prefix + text for text in texts[start : start + self._batch]]

    def _ask(self, client: OpenAI, texts: Sequence[str]) -> Vector:
        # Some servers refuse an empty input.
        inputs = [text[: self._max_chars] or " " for text in texts]
        extra = {} if self._dimensions is None else {"dimensions": self._dimensions}
        try:
            answer = client.embeddings.create(
                input=inputs, model=self._model, encoding_format="float", extra_body=extra
            )
            rows = sorted(answer.data, key=lambda item: item.index)
            vectors = np.array([item.embedding for item in rows], dtype=np.float32)
        except (OpenAIError, httpx.HTTPError) as error:
            raise EmbedderUnavailable(_reason(error)) from error
        except (AttributeError, TypeError, ValueError) as error:
            raise EmbedderUnavailable(UNUSABLE) from error
        return _unit_rows(vectors, len(inputs))


UNUSABLE = "the embedding server sent something unusable"


def _client(base_url: str, api_key: str, seconds: float) -> OpenAI:
    timeout = httpx.Timeout(seconds, connect=min(5.0, seconds))
    client = OpenAI(
        api_key=api_key or NO_KEY,
        base_url=base_url,
        max_retries=2,
        timeout=timeout,
        # The key goes where it was told to go, and nowhere else.
        http_client=httpx.Client(timeout=timeout, follow_redirects=False),
    )
    client.organization = client.project = None  # what the environment has is not for this server
    return client


def _unit_rows(vectors: Vector, count: int) -> Vector:
    if vectors.ndim != 2 or len(vectors) != count or not np.isfinite(vectors).all():
        raise EmbedderUnavailable(UNUSABLE)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not vectors.shape[1] or not lengths.all():
        raise EmbedderUnavailable(UNUSABLE)
    unit: Vector = (vectors / lengths).astype(np.float32)
    return unit


def _reason(error: Exception) -> str:
    match error:
        case APITimeoutError():
            return "the embedding server took too long"
        case APIStatusError():
            return f"the embedding server refused (HTTP {error.status_code})"
        case APIConnectionError():
            return "the embedding server cannot be reached"
    return UNUSABLE
