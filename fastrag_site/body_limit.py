"""ASGI middleware that reads a request body up to one byte above the limit, however it is framed.

Below: conf. Above: asgi. What reads the body answers 413 when it is longer than the limit
(`fastrag_site.parsers`, or Django's own RequestDataTooBig).
"""

from __future__ import annotations

from fastrag_site.conf import conf
from fastrag_site.lifespan import App, Message, Receive, Scope, Send


class BodyLimit:
    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        body, gone = await _read(receive, conf().request_max_bytes + 1)
        if gone:
            return
        first: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def replay() -> Message:
            return first.pop() if first else await _disconnect(receive)

        await self.app(
            {**scope, "headers": _with_length(scope["headers"], len(body))}, replay, send
        )


async def _read(receive: Receive, most: int) -> tuple[bytes, bool]:
    """The first `most` bytes of the body, and whether the client left meanwhile."""
    body = bytearray()
    while len(body) < most:
        message = await receive()
        if message["type"] == "http.disconnect":
            return b"", True
        body += message.get("body", b"")
        if not message.get("more_body", False):
            break
    return bytes(body[:most]), False


async def _disconnect(receive: Receive) -> Message:
    """The next message that is not a part of an oversized body."""
    while (message := await receive())["type"] == "http.request":
        pass
    return message


def _with_length(headers: list[tuple[bytes, bytes]], length: int) -> list[tuple[bytes, bytes]]:
    """Django and DRF take a body without Content-Length for an empty one."""
    kept = [(name, value) for name, value in headers if name.lower() != b"content-length"]
    return [*kept, (b"content-length", str(length).encode())] if length else kept
