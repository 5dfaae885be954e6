"""Somebody else's site, on a port of its own, that shows our widget."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BODY = "<h1>Elsewhere</h1><p>Words.</p>"


@dataclass(kw_only=True)
class OtherSite:
    """`localhost` is another site than 127.0.0.1, and its other port is the same site."""

    port: int
    page: str = ""
    headers: dict[str, str] = field(default_factory=dict)

    def origin(self, host: str = "localhost") -> str:
        return f"http://{host}:{self.port}"

    def shows(
        self, script: str, attributes: str = "", *, style: str = "", body: str = BODY
    ) -> None:
        """A page with the widget's script and nothing in it that axe would complain of."""
        self.headers = {}
        self.page = (
            f'<!doctype html><html lang="en"><head><title>Elsewhere</title><style>{style}</style>'
            f'<meta name="viewport" content="width=device-width, initial-scale=1"></head><body>'
            f"<main>{body}</main>"
            f'<script src="{script}" {attributes}></script></body></html>'
        )


@contextmanager
def other_site() -> Iterator[OtherSite]:
    made = OtherSite(port=0)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = made.page.encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            for name, value in made.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        made.port = server.server_port
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield made
        finally:
            server.shutdown()
            thread.join(5)
