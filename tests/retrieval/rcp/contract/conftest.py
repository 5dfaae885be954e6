from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.retrieval.rcp.engine import Engine, initialize
from tests.retrieval.rcp.site_wire import open_site
from tests.retrieval.rcp.wires import OPENERS, Wire

OPENERS["site"] = open_site


@pytest.fixture(params=sorted(OPENERS))
def fresh(request: pytest.FixtureRequest, engine: Engine) -> Iterator[Wire]:
    """A wire to `engine` before the handshake."""
    with OPENERS[request.param](engine.server) as wire:
        yield wire
        engine.release.set()


@pytest.fixture
def wire(fresh: Wire) -> Wire:
    """A wire to `engine`, initialized."""
    assert "result" in fresh.start(initialize("handshake")).reply()
    return fresh
