"""Runs the ASGI application on uvicorn. Below: asgi, uvicorn. Above: Server.serve_http."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

import uvicorn

from retrieval.rcp.transports.asgi import RcpApp
from retrieval.rcp.transports.coalesce import CoalescingProtocol
from retrieval.rcp.transports.http import HttpEndpoint, Identify
from retrieval.rcp.transports.turns import LoopTurns

if TYPE_CHECKING:
    from retrieval.rcp.server import Server


def serve(
    server: Server,
    endpoint: HttpEndpoint,
    port: int,
    host: str,
    *,
    identify: Identify | None = None,
    on_ready: Callable[[int], None] | None = None,
) -> None:
    """Block until interrupted, or until `server.close()`; open streams get a moment to end."""
    loop = _new_event_loop()
    turns = LoopTurns(server.runtime, loop)
    config = uvicorn.Config(
        RcpApp(endpoint, identify=identify, turns=turns),
        host=host,
        port=port,
        lifespan="off",
        log_level="warning",
        access_log=False,
        proxy_headers=False,
        http=CoalescingProtocol,
        ws="none",
        server_header=False,
        timeout_graceful_shutdown=round(server.limits.drain_seconds) + 2,
    )
    running = _Running(config, server, on_ready)
    server.on_close(running.end)
    try:
        # Here, in the main thread: the loop runs in others. An interrupt ends it, and is no error.
        with suppress(KeyboardInterrupt), running.capture_signals():
            turns.run(running.serve())
    finally:
        server.runtime.close()


def _new_event_loop() -> asyncio.AbstractEventLoop:
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


class _Running(uvicorn.Server):
    """Tells when it is up; on the way down, ends what takes longer than the drain time."""

    def __init__(
        self,
        config: uvicorn.Config,
        server: Server,
        on_ready: Callable[[int], None] | None,
    ) -> None:
        super().__init__(config)
        self._limits = server.limits
        self._runtime = server.runtime
        self._on_ready = on_ready

    def end(self) -> None:
        self.should_exit = True

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        if self.started and self._on_ready is not None:
            self._on_ready(self.servers[0].sockets[0].getsockname()[1])

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        # An aborted call still sends its reply, so that open streams end as streams should.
        end = asyncio.get_running_loop().call_later(
            self._limits.drain_seconds, self._runtime.abort_all, "the server is shutting down"
        )
        await super().shutdown(sockets=sockets)
        end.cancel()
