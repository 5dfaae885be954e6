"""A server behind a URL: one POST a request, buffered or as an event stream.

Below: httpx, sse. Above: aio. Connections are kept and reused.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any

import httpx

from retrieval.rcp.client.transport import OnNotification
from retrieval.rcp.codes import Errc
from retrieval.rcp.errors import ConnectionLost, InternalError, RcpError, error_from_wire
from retrieval.rcp.jsonio import loads
from retrieval.rcp.messages import RequestId
from retrieval.rcp.transports.accept import EVENT_STREAM
from retrieval.rcp.transports.sse import EventDecoder

MAX_BODY = 64_000_000  # bytes
CONNECT_SECONDS = 10.0

_STATUS: Mapping[int, Errc] = {
    401: Errc.UNAUTHORIZED,
    403: Errc.UNAUTHORIZED,
    404: Errc.NOT_FOUND,
    413: Errc.PAYLOAD_TOO_LARGE,
    429: Errc.RATE_LIMITED,
    503: Errc.BACKEND_UNAVAILABLE,
}


class HttpClientTransport:
    def __init__(self, url: str, *, headers: Mapping[str, str] | None = None) -> None:
        self.on_notification: OnNotification = lambda message: None
        address = httpx.URL(url)
        self._url = address if address.path not in ("", "/") else address.copy_with(path="/rcp")
        self._http = httpx.AsyncClient(
            headers={"Content-Type": "application/json", **(headers or {})},
            timeout=httpx.Timeout(None, connect=CONNECT_SECONDS),  # the caller bounds the whole
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=20),
        )

    async def exchange(self, id_: RequestId, text: bytes, *, streams: bool) -> Any:
        self._check_open()
        accept = EVENT_STREAM if streams else "application/json"
        try:
            async with self._http.stream(
                "POST", self._url, content=text, headers={"Accept": accept}
            ) as response:
                if response.headers.get("content-type", "").lower().startswith(EVENT_STREAM):
                    return await self._read_stream(response)
                return _message_of(response.status_code, await _read_body(response))
        except httpx.HTTPError as error:
            raise ConnectionLost(f"no answer from the server: {type(error).__name__}") from error

    async def notify(self, text: bytes) -> None:
        self._check_open()
        try:
            await self._http.post(self._url, content=text)
        except httpx.HTTPError as error:
            raise ConnectionLost(f"no answer from the server: {type(error).__name__}") from error

    def use_session(self, session: str) -> None:
        self._http.headers["RCP-Session"] = session

    async def close(self, *, at_once: bool = False) -> None:
        await self._http.aclose()

    def _check_open(self) -> None:
        if self._http.is_closed:
            raise ConnectionLost("the connection is closed")

    async def _read_stream(self, response: httpx.Response) -> Any:
        async with aclosing(_messages(response)) as messages:
            async for message in messages:
                if "method" not in message:
                    return message
                self.on_notification(message)
        raise ConnectionLost("the stream ended without a response")


async def _messages(response: httpx.Response) -> AsyncGenerator[dict[str, Any], None]:
    decoder = EventDecoder(MAX_BODY)
    async for chunk in response.aiter_bytes():
        for data in decoder.feed(chunk):
            message = loads(data)
            if isinstance(message, dict):
                yield message


async def _read_body(response: httpx.Response) -> bytes:
    body = bytearray()
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > MAX_BODY:
            raise InternalError("the server's answer is too long")
    return bytes(body)


def _message_of(status: int, body: bytes) -> Any:
    """The JSON-RPC message of a body, or the error that its status stands for."""
    try:
        message = loads(body)
    except RcpError:
        message = None
    if isinstance(message, dict) and message.get("jsonrpc") == "2.0":
        return message
    code = _STATUS.get(status, Errc.INTERNAL_ERROR)
    raise error_from_wire({"code": int(code), "message": f"the server answered HTTP {status}"})
