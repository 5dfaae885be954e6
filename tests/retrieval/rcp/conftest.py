from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.retrieval.rcp import wires
from tests.retrieval.rcp.engine import Engine


@pytest.fixture(autouse=True, scope="session")
def one_host_for_all() -> Iterator[None]:
    yield
    wires.stop_host()


@pytest.fixture
def engine() -> Iterator[Engine]:
    made = Engine()
    yield made
    made.release.set()
    made.server.close()
