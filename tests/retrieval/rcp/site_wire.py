"""The site's own endpoint as one more transport of the contract: real HTTP, all its middleware."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from unittest import mock

from django.core.signals import request_finished, request_started
from django.db import close_old_connections

from fastrag_site.asgi import application
from retrieval import rcp
from retrieval.handlers.server import SiteServer
from tests.retrieval.rcp.wires import HttpWire, Wire, host


@contextlib.contextmanager
def open_site(server: rcp.Server) -> Iterator[Wire]:
    site = SiteServer(server=server, endpoint=server.endpoint(stateless=True))
    serving = host()
    serving.app = application  # type: ignore[assignment]
    headers = {"RCP-Session": os.urandom(8).hex(), "Host": f"127.0.0.1:{serving.port}"}
    with without_a_database(), mock.patch("retrieval.rcp_views.site_server", return_value=site):
        yield HttpWire(serving.port, stateless=True, headers=headers)


@contextlib.contextmanager
def without_a_database() -> Iterator[None]:
    """Django is not to look through the connections that other tests left in its thread."""
    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    try:
        yield
    finally:
        for signal in signals:
            signal.connect(close_old_connections)
