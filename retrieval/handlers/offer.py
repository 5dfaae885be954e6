"""What this engine can do, as it is configured now: the capabilities of its servers.

Below: embedding, reranking, restrict, conf. Above: server.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from django.db import InterfaceError, OperationalError

from fastrag_site.conf import conf
from retrieval import rcp
from retrieval.embedding import embedder
from retrieval.embedding.errors import EmbedderUnavailable
from retrieval.pipeline.restrict import FIELDS, OPERATORS, fields
from retrieval.reranking import reranker
from retrieval.types import FusionMethod, Mode, Unit

Metadata = dict[str, Any]
Capability = rcp.Capability
LOG_LEVELS = ("info", "warning")
PATIENCE_SECONDS = 60.0  # until an embedder that was out is asked again


class Offer:
    """The capabilities of one server. The set stays; what is renewed only grows."""

    def __init__(self, server: rcp.Server, *, writable: bool = True, logs: bool = False) -> None:
        self._server = server
        self._next_try = 0.0
        self._advertise_models()
        self._advertise_fields(FIELDS)
        server.advertise(Capability.Index, {"writable": writable, "chunking": True})
        session = {"dedup": True, "ttlSeconds": conf().rcp_session_seconds}
        server.advertise(Capability.Session, session)
        for capability in (
            *(Capability.Streaming, Capability.Pagination),
            *(Capability.Citations, Capability.Feedback),
        ):
            server.advertise(capability)
        if logs:
            server.advertise(Capability.Log, {"levels": list(LOG_LEVELS)})

    def renew(self) -> None:
        """For a server without sessions, before each request. Without a database, as far as known:
        what needs it says so itself.
        """
        with suppress(OperationalError, InterfaceError):
            self.renew_fields()
        is_missing = embedder() is not None and Capability.Embed.value not in self._capabilities
        if is_missing and time.monotonic() > self._next_try:
            self._advertise_models()

    def renew_fields(self) -> None:
        """Documents bring fields of their own; each can be filtered on as soon as it is stored."""
        self._advertise_fields(fields())

    def _advertise_fields(self, known: Mapping[str, str]) -> None:
        filter_ = {"fields": dict(known), "operators": list(OPERATORS)}
        self._server.advertise(Capability.Filter, filter_)

    @property
    def _capabilities(self) -> Any:
        return self._server.capabilities

    def _advertise_models(self) -> None:
        self._next_try = time.monotonic() + PATIENCE_SECONDS
        embed = embed_metadata()
        self._server.advertise(Capability.Retrieve, retrieve_metadata(dense=embed is not None))
        if embed is not None:
            self._server.advertise(Capability.Embed, embed)
        if reranker() is not None:
            self._server.advertise(Capability.Rerank, rerank_metadata(["cross-encoder"]))
        elif embed is not None:
            models = {"models": [embed["identity"]]}
            self._server.advertise(Capability.Rerank, {**rerank_metadata([]), **models})


def retrieve_metadata(*, dense: bool) -> Metadata:
    modes = [Mode.DENSE, Mode.SPARSE, Mode.HYBRID] if dense else [Mode.SPARSE]
    found: Metadata = {
        "maxK": conf().search_max_k,
        "modes": [str(mode) for mode in modes],
        "fusion": [str(method) for method in FusionMethod] if dense else [],
        "mmr": True,
        "rerankBuiltin": reranker() is not None,
        "units": [str(unit) for unit in Unit],
        "tokenBudget": True,
        "confidence": True,
        "scoreScale": "unbounded",
        "defaultMode": str(Mode.HYBRID if dense else Mode.SPARSE),
        "deterministic": True,
    }
    if reranker() is None:  # whose scores may be anything
        found["scoreFloor"] = 0.0
    return found


def embed_metadata() -> Metadata | None:
    """None where there is no embedder, or none to be had."""
    model = embedder()
    if model is None:
        return None
    try:
        dimension, identity = model.dimension, model.identity
    except EmbedderUnavailable:
        return None
    return {
        "dimension": dimension,
        "identity": identity,
        "batchLimit": conf().rcp_texts_max,
        "normalized": True,
        "modalities": ["text"],
        "encodings": ["json", "f32-base64"],
    }


def rerank_metadata(methods: list[str]) -> Metadata:
    return {"methods": methods, "maxCandidates": conf().rcp_texts_max}
