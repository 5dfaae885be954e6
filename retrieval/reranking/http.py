"""Reranks through a server with the `/rerank` route that rerank services share.

    FASTRAG_RERANKER={"BACKEND": "retrieval.reranking.http.HTTPReranker",
                      "OPTIONS": {"base_url": "http://127.0.0.1:8081/v1", "model": "…"}}

Below: httpx. Above: settings name it as RERANKER.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any

import httpx

from retrieval.reranking.errors import RerankerUnavailable

UNUSABLE = "the rerank server sent something unusable"


class HTTPReranker:
    """Sends `{model, query, documents}`, reads `{results: [{index, relevance_score}]}`."""

    def __init__(
        self,
        *,
        base_url: str,
        model: str = "",
        api_key: str = "",
        seconds: float = 10.0,
        max_chars: int = 4_000,
    ) -> None:
        self._url = base_url.rstrip("/") + "/rerank"
        self._model = model
        self._max_chars = max_chars
        self._client = httpx.Client(
            timeout=httpx.Timeout(seconds, connect=min(5.0, seconds)),
            follow_redirects=False,  # the key goes where it was told to go, and nowhere else
            headers={"Authorization": f"Bearer {api_key}"} if api_key else {},
        )

    def rerank(self, query: str, passages: Sequence[str]) -> list[float]:
        body: dict[str, Any] = {
            "query": query,
            "documents": [passage[: self._max_chars] for passage in passages],
            "top_n": len(passages),
            "return_documents": False,
        }
        if self._model:
            body["model"] = self._model
        try:
            response = self._client.post(self._url, json=body)
            response.raise_for_status()
            return _scores(response.json(), len(passages))
        except httpx.TimeoutException as error:
            raise RerankerUnavailable("the rerank server took too long") from error
        except httpx.HTTPStatusError as error:
            status = error.response.status_code
            raise RerankerUnavailable(f"the rerank server refused (HTTP {status})") from error
        except httpx.HTTPError as error:
            raise RerankerUnavailable("the rerank server cannot be reached") from error
        except (KeyError, TypeError, ValueError) as error:
            raise RerankerUnavailable(UNUSABLE) from error

    def close(self) -> None:
        self._client.close()


def _scores(answer: Any, count: int) -> list[float]:
    found: dict[int, float] = {}
    for result in answer["results"]:
        score = result["relevance_score"] if "relevance_score" in result else result["score"]
        found[int(result["index"])] = float(score)
    if set(found) != set(range(count)) or not all(map(isfinite, found.values())):
        raise ValueError("not one finite score a passage")
    return [found[index] for index in range(count)]
