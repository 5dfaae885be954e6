"""The HTTP side: one client of the `openai` package for each event loop, closed with the loop.

Below: options. Above: opening, readiness.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import AsyncGenerator, AsyncIterator
from functools import cache
from weakref import WeakKeyDictionary

import httpx
import openai.resources.chat  # noqa: F401  (slow: not inside an event loop)
from openai import AsyncOpenAI

from chats.generation.openai_compatible.options import Options

RESPONSE_MAX_BYTES = 64_000_000
MOST_CONNECTIONS = 1_000
_OTHER_SECONDS = 10.0  # to write a request, and to wait for a free connection
_NO_KEY = "none"  # the package insists on one; `key_headers` keeps it from being sent


class Clients:
    def __init__(self, options: Options) -> None:
        self._options = options
        _tls()
        self._holders: WeakKeyDictionary[
            asyncio.AbstractEventLoop, tuple[AsyncOpenAI, AsyncGenerator[None, None]]
        ] = WeakKeyDictionary()

    async def get(self) -> AsyncOpenAI:
        """The client of the running loop."""
        loop = asyncio.get_running_loop()
        if loop not in self._holders:
            client = make_client(self._options)
            holder = self._hold(loop, client)
            self._holders[loop] = client, holder
            await anext(holder)
        return self._holders[loop][0]

    async def close(self) -> None:
        """Close the client of the running loop before the loop's end."""
        if held := self._holders.get(asyncio.get_running_loop()):
            await held[1].aclose()

    async def _hold(
        self, loop: asyncio.AbstractEventLoop, client: AsyncOpenAI
    ) -> AsyncGenerator[None, None]:
        """Suspended for the life of the loop, which closes its generators when it shuts down."""
        try:
            yield
        finally:
            self._holders.pop(loop, None)
            await client.close()


def make_client(options: Options) -> AsyncOpenAI:
    timeout = httpx.Timeout(
        _OTHER_SECONDS, connect=options.connect_seconds, read=options.read_seconds
    )
    http_client = httpx.AsyncClient(
        verify=_tls(),
        timeout=timeout,
        limits=httpx.Limits(max_connections=MOST_CONNECTIONS, max_keepalive_connections=20),
        follow_redirects=False,  # the key goes where it was told to go, and nowhere else
        headers={"Accept-Encoding": "identity"},  # compression would hold tokens back
        event_hooks={"response": [_bound_size]},
    )
    client = AsyncOpenAI(
        api_key=options.api_key or _NO_KEY,
        admin_api_key="",
        base_url=options.base_url,
        timeout=timeout,
        max_retries=0,  # `opening` knows better when to try again
        http_client=http_client,
        default_headers={
            "Authorization" if name.lower() == "authorization" else name: value
            for name, value in options.extra_headers.items()
        },
    )
    client.organization = client.project = None  # what the environment has is not for this server
    return client


@cache
def _tls() -> ssl.SSLContext:
    return httpx.create_ssl_context()  # slow, so once a process and outside of event loops


class _Bounded(httpx.AsyncByteStream):
    def __init__(self, stream: httpx.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = RESPONSE_MAX_BYTES
        async for part in self._stream:
            left -= len(part)
            if left < 0:
                raise httpx.RemoteProtocolError("the response is too long")
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()


async def _bound_size(response: httpx.Response) -> None:
    if isinstance(response.stream, httpx.AsyncByteStream):
        response.stream = _Bounded(response.stream)


class _Demote(logging.Filter):
    """Makes debug lines of a library's INFO lines, which print URLs."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno == logging.INFO:
            record.levelno, record.levelname = logging.DEBUG, "DEBUG"
        return record.levelno != logging.DEBUG or logging.getLogger(record.name).isEnabledFor(
            logging.DEBUG
        )


for _name in ("httpx", "openai._base_client"):
    logging.getLogger(_name).addFilter(_Demote(_name))
