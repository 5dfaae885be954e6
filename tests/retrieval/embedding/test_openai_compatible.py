"""A real client against a scripted server on loopback."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from retrieval.embedding.errors import EmbedderUnavailable
from retrieval.embedding.openai_compatible import OpenAICompatibleEmbedder
from tests.upstream import KEEP, STALL, Script, error, head, nobody, upstream


@pytest.fixture
def make() -> Iterator[Callable[..., OpenAICompatibleEmbedder]]:
    """Makes clients that are closed afterwards."""
    made: list[OpenAICompatibleEmbedder] = []

    def make(**options: Any) -> OpenAICompatibleEmbedder:
        made.append(OpenAICompatibleEmbedder(**options))
        return made[-1]

    yield make
    for one in made:
        one.close()


def reply(*vectors: object, order: list[int] | None = None) -> Script:
    data = [
        {"object": "embedding", "index": index, "embedding": vector}
        for index, vector in enumerate(vectors)
    ]
    body = json.dumps({"object": "list", "data": [data[n] for n in order] if order else data})
    return [head(content_type="application/json", Content_Length=len(body)) + body.encode(), KEEP]


def test_vectors_come_back_of_unit_length_and_in_order(
    make: Callable[..., OpenAICompatibleEmbedder],
) -> None:
    with upstream(reply([3, 4], [0, 2], order=[1, 0])) as server:
        model = make(base_url=server.base_url, model="m", api_key="k")
        vectors = model.embed_passages(["a", "b"])
    assert vectors == pytest.approx(np.array([[0.6, 0.8], [0.0, 1.0]]))
    assert vectors.dtype == np.float32
    (request,) = server.requests
    assert request.path == "/v1/embeddings"
    assert request.headers["authorization"] == "Bearer k"
    assert request.json["input"] == ["a", "b"]
    assert request.json["encoding_format"] == "float"


def test_passages_are_sent_in_batches_with_their_prefix(
    make: Callable[..., OpenAICompatibleEmbedder],
) -> None:
    with upstream(reply([1, 0], [1, 0]), reply([0, 1])) as server:
        model = make(base_url=server.base_url, model="m", batch=2, passage_prefix="passage: ")
        assert model.embed_passages(["a", "b", "c"]).shape == (3, 2)
    sent = [request.json["input"] for request in server.requests]
    assert sent == [["passage: a", "passage: b"], ["passage: c"]]


def test_a_query_has_its_own_prefix_and_a_bounded_length(
    make: Callable[..., OpenAICompatibleEmbedder],
) -> None:
    with upstream(reply([1, 0])) as server:
        model = make(base_url=server.base_url, model="m", query_prefix="q: ", max_chars=10)
        model.embed_query("x" * 100)
    assert server.requests[0].json["input"] == ["q: xxxxxxx"]


def test_the_dimension_is_asked_once(make: Callable[..., OpenAICompatibleEmbedder]) -> None:
    with upstream(reply([1, 2, 3])) as server:
        model = make(base_url=server.base_url, model="m")
        assert (model.dimension, model.dimension) == (3, 3)
    assert len(server.requests) == 1


def test_it_counts_for_every_language_unless_told_otherwise(
    make: Callable[..., OpenAICompatibleEmbedder],
) -> None:
    assert make(base_url="http://127.0.0.1:1", model="m").weight("zh") == 1.0
    one = make(base_url="http://127.0.0.1:1", model="m", languages=["de"])
    assert (one.weight("de"), one.weight("zh")) == (1.0, 0.0)


def test_the_identity_names_model_dimensions_and_prefix(
    make: Callable[..., OpenAICompatibleEmbedder],
) -> None:
    identities = {
        make(base_url="http://127.0.0.1:1", model="m", **options).identity
        for options in ({}, {"dimensions": 256}, {"passage_prefix": "p: "})
    }
    assert len(identities) == 3


@pytest.mark.parametrize(
    ("script", "message"),
    [
        (error(401, {"message": "secret detail"}), "refused .HTTP 401"),
        (error(503), "refused .HTTP 503"),
        (reply([1, 0], [0, 1]), "unusable"),
        (reply(["a"]), "unusable"),
        (reply([0, 0]), "unusable"),
        (reply([]), "unusable"),
        (reply(), "unusable"),
        ([head(content_type="application/json", Content_Length=2) + b"{}", KEEP], "unusable"),
        ([head(content_type="text/html", Content_Length=6) + b"<html>", KEEP], "unusable"),
        ([STALL], "too long"),
    ],
)
def test_a_server_that_fails_is_unavailable_with_a_message_of_ours(
    make: Callable[..., OpenAICompatibleEmbedder], script: Script, message: str
) -> None:
    with upstream(script) as server:
        model = make(base_url=server.base_url, model="m", query_seconds=0.3)
        with pytest.raises(EmbedderUnavailable, match=message) as caught:
            model.embed_query("x")
    assert "secret" not in str(caught.value)
    assert "127.0.0.1" not in str(caught.value)


def test_a_server_that_is_not_there_is_unavailable(
    make: Callable[..., OpenAICompatibleEmbedder],
) -> None:
    with nobody() as base_url:
        model = make(base_url=base_url, model="m")
        with pytest.raises(EmbedderUnavailable, match="cannot be reached"):
            model.embed_query("x")


def test_passages_are_tried_again_after_a_passing_fault(
    make: Callable[..., OpenAICompatibleEmbedder],
) -> None:
    with upstream(error(503, retry_after=0), reply([1, 0])) as server:
        model = make(base_url=server.base_url, model="m")
        assert model.embed_passages(["a"]).shape == (1, 2)
    assert len(server.requests) == 2


def test_a_server_that_changes_the_length_of_its_vectors_is_unavailable(
    make: Callable[..., OpenAICompatibleEmbedder],
) -> None:
    with upstream(reply([1, 0]), reply([1, 0, 0])) as server:
        model = make(base_url=server.base_url, model="m", batch=1)
        with pytest.raises(EmbedderUnavailable, match="changed the length"):
            model.embed_passages(["a", "b"])
