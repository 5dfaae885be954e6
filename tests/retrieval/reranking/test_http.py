"""A real client against a scripted server on loopback."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from retrieval.reranking.errors import RerankerUnavailable
from retrieval.reranking.http import HTTPReranker
from tests.upstream import KEEP, STALL, Script, error, head, nobody, upstream


@pytest.fixture
def make() -> Iterator[Callable[..., HTTPReranker]]:
    """Makes clients that are closed afterwards."""
    made: list[HTTPReranker] = []

    def make(**options: Any) -> HTTPReranker:
        made.append(HTTPReranker(**options))
        return made[-1]

    yield make
    for one in made:
        one.close()


def reply(body: object) -> Script:
    data = json.dumps(body).encode()
    return [head(content_type="application/json", Content_Length=len(data)) + data, KEEP]


def scores(*pairs: tuple[object, object], name: str = "relevance_score") -> Script:
    return reply({"results": [{"index": index, name: score} for index, score in pairs]})


@pytest.mark.parametrize("name", ["relevance_score", "score"])
def test_scores_come_back_in_the_order_of_the_passages(
    make: Callable[..., HTTPReranker], name: str
) -> None:
    with upstream(scores((1, 0.9), (0, 0.2), name=name)) as server:
        model = make(base_url=server.base_url, model="m", api_key="k", max_chars=3)
        assert model.rerank("q", ["first", "b"]) == [0.2, 0.9]
    (request,) = server.requests
    assert request.path == "/v1/rerank"
    assert request.headers["authorization"] == "Bearer k"
    assert request.json["documents"] == ["fir", "b"]


@pytest.mark.parametrize(
    ("script", "message"),
    [
        (error(429), "refused .HTTP 429"),
        (scores((0, 1.0)), "unusable"),
        (scores((0, 1.0), (1, "x")), "unusable"),
        (scores((0, 1.0), (2, 1.0)), "unusable"),
        (reply([]), "unusable"),
        (reply({"results": [1]}), "unusable"),
        ([head(content_type="text/html", Content_Length=6) + b"<html>", KEEP], "unusable"),
        ([STALL], "too long"),
    ],
)
def test_a_server_that_fails_is_unavailable(
    make: Callable[..., HTTPReranker], script: Script, message: str
) -> None:
    with upstream(script) as server:
        model = make(base_url=server.base_url, seconds=0.3)
        with pytest.raises(RerankerUnavailable, match=message):
            model.rerank("q", ["a", "b"])


def test_a_server_that_is_not_there_is_unavailable(make: Callable[..., HTTPReranker]) -> None:
    with nobody() as base_url, pytest.raises(RerankerUnavailable, match="cannot be reached"):
        make(base_url=base_url).rerank("q", ["a"])
