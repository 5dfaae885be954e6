"""ASGI middleware for the process: start-up hooks, and draining before the server shuts down.

Below: shutdown. Above: asgi. Apps connect receivers to `started`; a failing one is logged, and the
server starts all the same.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from asgiref.sync import sync_to_async
from django.db import connections
from django.dispatch import Signal

from fastrag_site import shutdown

Scope = dict[str, Any]
Message = Mapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

started = Signal()  # a worker is about to take requests


class Lifespan:
    def __init__(self, app: App) -> None:
        self.app = app
        self._installed = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not self._installed:  # with the first request where a server has no lifespan
            self._installed = True
            shutdown.install()
        if scope["type"] == "lifespan":
            await _serve(receive, send)
        elif scope["type"] == "websocket":  # there are none; Django would raise
            await receive()
            await send({"type": "websocket.close"})
        else:
            await self.app(scope, receive, send)


async def _serve(receive: Receive, send: Send) -> None:
    while True:
        message = await receive()
        if message["type"] == "lifespan.startup":
            await started.asend_robust(sender=Lifespan)  # logs what fails
            await sync_to_async(connections.close_all)()  # of the thread that ran the hooks
            await send({"type": "lifespan.startup.complete"})
        else:
            shutdown.begin()
            await send({"type": "lifespan.shutdown.complete"})
            return
