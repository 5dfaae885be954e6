"""The HTTP side: one client of the `openai` package for each event loop, closed with the loop.

Below: options. Above: opening, readiness.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import ssl
import zlib
from collections.abc import AsyncGenerator
from functools import cache
from weakref import WeakKeyDictionary

import httpx
import openai.resources.chat  # noqa: F401  (slow: not inside an event loop)
from openai import AsyncOpenAI

from chats.generation.openai_compatible.options import Options

RESPONSE_MAX_BYTES = 64_000_000
ERROR_BODY_BYTES = 64_000
ERROR_BODY_SECONDS = 2.0
MOST_CONNECTIONS = 1_000
_OTHER_SECONDS = 10.0  # to write a request, and to wait for a free connection
_GZIP_OR_ZLIB = zlib.MAX_WBITS | 32
_UNPACKED_AT_ONCE = 1_000_000  # bytes
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
        event_hooks={"response": [_bound]},
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
    """A response's bytes, unpacked, and no more of them than may be."""

    def __init__(self, stream: httpx.AsyncByteStream, *, packed: bool) -> None:
        self._stream = stream
        self._packed = packed

    async def __aiter__(self) -> AsyncGenerator[bytes, None]:
        left = RESPONSE_MAX_BYTES
        async for part in self._unpacked() if self._packed else self._stream:
            left -= len(part)
            if left < 0:
                raise httpx.RemoteProtocolError("the response is too long")
            yield part

    async def _unpacked(self) -> AsyncGenerator[bytes, None]:
        """Piece by piece: a few bytes may hold gigabytes."""
        unpacker = zlib.decompressobj(_GZIP_OR_ZLIB)
        async for part in self._stream:
            while part:
                try:
                    data = unpacker.decompress(part, _UNPACKED_AT_ONCE)
                except zlib.error:
                    raise httpx.DecodingError("the response cannot be unpacked") from None
                yield data
                part = unpacker.unconsumed_tail

    async def aclose(self) -> None:
        await self._stream.aclose()


class _ErrorBody(_Bounded):
    """What came of an error's body in a moment: its status counts, however the body goes on."""

    async def __aiter__(self) -> AsyncGenerator[bytes, None]:
        kept = bytearray()
        with contextlib.suppress(TimeoutError, httpx.HTTPError):
            async with asyncio.timeout(ERROR_BODY_SECONDS):
                async with contextlib.aclosing(super().__aiter__()) as parts:
                    async for part in parts:
                        kept += part
                        if len(kept) >= ERROR_BODY_BYTES:
                            break
        yield bytes(kept[:ERROR_BODY_BYTES])


async def _bound(response: httpx.Response) -> None:
    """Of each response. Servers are asked not to pack; one that does is unpacked here."""
    if isinstance(response.stream, httpx.AsyncByteStream):
        packing = response.headers.pop("content-encoding", "").strip().lower()
        kind = _Bounded if response.is_success else _ErrorBody
        response.stream = kind(response.stream, packed=packing in {"gzip", "x-gzip", "deflate"})


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
