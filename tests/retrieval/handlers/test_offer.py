"""What the engine offers is what it can do as it is configured."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.test import override_settings

from fastrag_site.conf import conf
from retrieval.handlers import offer
from retrieval.handlers.server import local_server, site_server
from tests.retrieval.handlers.conftest import Engine
from tests.retrieval.handlers.parts import NotThere

MISSING = {"EMBEDDER": {"BACKEND": "tests.retrieval.handlers.parts.NotThere"}}


@contextmanager
def configured(**fastrag: Any) -> Iterator[Engine]:
    with override_settings(FASTRAG=fastrag):
        server = local_server()
        try:
            yield Engine(server)
        finally:
            server.close()


def test_every_capability_of_the_issue_is_there(engine: Engine) -> None:
    result = engine.ask("info").result
    assert set(result["capabilities"]) == {
        *("retrieve", "embed", "rerank", "index", "filter", "streaming"),
        *("pagination", "citations", "session", "feedback", "log"),
    }
    assert result["_meta"]["conformance"] == "L2"
    assert result["server"]["name"] == "fastrag-site"


def test_retrieve_says_what_it_takes(engine: Engine) -> None:
    retrieve = engine.server.capabilities["retrieve"]
    assert retrieve["maxK"] == conf().search_max_k
    assert set(retrieve["modes"]) == {"dense", "sparse", "hybrid"}
    assert set(retrieve["fusion"]) == {"rrf", "weighted", "convex"}
    assert retrieve["defaultMode"] == "hybrid"
    assert retrieve["rerankBuiltin"] is False


@pytest.mark.parametrize("method", ["embed/sparse", "embed/multi", "graph", "query/transform"])
def test_what_is_not_offered_is_a_missing_capability(engine: Engine, method: str) -> None:
    assert engine.ask(method).error["code"] == -32003


@pytest.mark.parametrize("fastrag", [{"EMBEDDER": None}, MISSING])
def test_without_an_embedder_it_offers_words_alone(engine: Engine, fastrag: Any) -> None:
    with configured(**fastrag) as lexical:
        offered = lexical.server.capabilities
        assert offered["retrieve"]["modes"] == ["sparse"]
        assert offered["retrieve"]["defaultMode"] == "sparse"
        assert "embed" not in offered
        assert "rerank" not in offered
        assert lexical.retrieve("gas flame", k=1).pages == ["boiler"]
        assert lexical.retrieve(mode="dense").error["data"]["option"] == "mode"
        assert lexical.ask("embed", inputs=["x"]).error["code"] == -32003


def test_a_score_has_a_floor_unless_a_reranker_scores(engine: Engine) -> None:
    assert engine.server.capabilities["retrieve"]["scoreFloor"] == 0.0
    with configured(RERANKER={"BACKEND": "tests.retrieval.handlers.parts.ByLength"}) as reranking:
        offered = reranking.server.capabilities
        assert "scoreFloor" not in offered["retrieve"]
        assert offered["retrieve"]["rerankBuiltin"] is True


def test_the_site_offers_the_same_but_log(engine: Engine) -> None:
    site = site_server().server.capabilities
    assert set(engine.server.capabilities) - set(site) == {"log"}


def test_an_embedder_that_comes_back_is_offered_by_the_site(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    with override_settings(FASTRAG=MISSING):
        site = site_server()
        assert site.offer is not None
        monkeypatch.setattr(NotThere, "identity", "back-1")
        monkeypatch.setattr(NotThere, "dimension", 3)
        site.offer.renew()
        assert "embed" not in site.server.capabilities  # asked a moment ago
        monkeypatch.setattr(offer, "PATIENCE_SECONDS", 0.0)
        monkeypatch.setattr(site.offer, "_next_try", 0.0)
        site.offer.renew()
        assert site.server.capabilities["embed"]["identity"] == "back-1"
        assert site.server.capabilities["retrieve"]["defaultMode"] == "hybrid"
