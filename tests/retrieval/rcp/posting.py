"""Bare HTTP requests to whatever application the shared host serves."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.retrieval.rcp.wires import host

SSE = "text/event-stream"


class Response:
    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status = response.status
        self.headers = response.headers
        self.body = response.read()

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@contextmanager
def posting(
    body: Any, *, path: str = "/rcp", method: str = "POST", **headers: str
) -> Iterator[http.client.HTTPConnection]:
    connection = http.client.HTTPConnection("127.0.0.1", host().port, timeout=10)
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, path, raw, {"Content-Type": "application/json", **named})
    try:
        yield connection
    finally:
        connection.close()


def post(body: Any, **more: str) -> Response:
    with posting(body, **more) as connection:
        return Response(connection.getresponse())
