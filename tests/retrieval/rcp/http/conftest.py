"""An engine behind the HTTP rules, on the server that the wires share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from retrieval import rcp
from retrieval.rcp.transports.asgi import RcpApp
from tests.retrieval.rcp.engine import Engine
from tests.retrieval.rcp.wires import host


@pytest.fixture
def engine() -> Iterator[Engine]:
    made = Engine(limits=rcp.Limits(message_bytes=10_000, keepalive_seconds=0.05))
    yield made
    made.release.set()
    made.server.close()


@pytest.fixture(autouse=True)
def site(engine: Engine) -> None:
    host().app = RcpApp(engine.server.endpoint(stateless=True))
