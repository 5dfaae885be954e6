"""What is counted and measured, for Prometheus.

Below: prometheus_client. Above: streaming and chats count, health shows. With several workers set
PROMETHEUS_MULTIPROC_DIR to an empty folder; then every worker shows the sum.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from prometheus_client import (
    REGISTRY,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.multiprocess import MultiProcessCollector

disable_created_metrics()  # type: ignore[no-untyped-call]

_SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)

OPEN_STREAMS = Gauge(
    "fastrag_open_streams", "Event streams that are open", multiprocess_mode="livesum"
)
GENERATIONS = Counter("fastrag_generations", "Finished answers", ["finish_reason", "error_code"])
GENERATION_SECONDS = Histogram(
    "fastrag_generation_seconds", "From acceptance to the end of an answer", buckets=_SECONDS
)
FIRST_TOKEN_SECONDS = Histogram(
    "fastrag_first_token_seconds", "From acceptance to the first token", buckets=_SECONDS
)
RETRIEVAL_SECONDS = Histogram(
    "fastrag_retrieval_seconds", "One run of the retrieval pipeline", buckets=_SECONDS
)


@contextmanager
def open_stream() -> Iterator[None]:
    OPEN_STREAMS.inc()
    try:
        yield
    finally:
        OPEN_STREAMS.dec()


def generation_finished(
    finish_reason: str,
    *,
    seconds: float,
    first_token_seconds: float | None = None,
    error_code: str = "",
) -> None:
    """Count one answer; `first_token_seconds` None where there was no token."""
    GENERATIONS.labels(finish_reason, error_code).inc()
    GENERATION_SECONDS.observe(seconds)
    if first_token_seconds is not None:
        FIRST_TOKEN_SECONDS.observe(first_token_seconds)


def retrieval_finished(seconds: float) -> None:
    RETRIEVAL_SECONDS.observe(seconds)


def exposition() -> bytes:
    """All metrics as Prometheus text: of this process, or of all workers."""
    registry = REGISTRY
    if settings.PROMETHEUS_MULTIPROC_DIR:
        registry = CollectorRegistry()
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return generate_latest(registry)
