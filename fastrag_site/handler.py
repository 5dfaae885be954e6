"""Django's ASGI handler, with three promises.

A request to the API costs one turn in a thread of a shared pool: Django's own takes a thread for
each open request, streams included, and goes through it once for each middleware. A stream whose
client left while the view still ran is closed like any other. No database connection is held while
a stream is open. Below: streaming, threads. Above: asgi.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIHandler
from django.core.handlers.base import BaseHandler
from django.db import connections
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from fastrag_site.streaming import EventStreamResponse
from fastrag_site.threads import run_in

_API = re.compile(r"/(api|rcp)(/|$)")  # whose views are all synchronous
# Some wait in their thread for an answer from elsewhere: as many as may run or queue there.
_VIEWS = ThreadPoolExecutor(256, "view")


class _Views(BaseHandler):
    """The middleware and the views, all in the thread that calls."""

    def __init__(self) -> None:
        super().__init__()
        self.load_middleware(is_async=False)


class Handler(ASGIHandler):
    def __init__(self) -> None:
        super().__init__()
        self._views = _Views()

    async def __call__(
        self,
        scope: dict[str, Any],
        receive: Callable[[], Awaitable[Any]],
        send: Callable[[Any], Awaitable[None]],
    ) -> None:
        if scope["type"] == "http" and _API.match(scope["path"]):
            await self.handle(scope, receive, send)  # without a thread of its own
        else:
            await super().__call__(scope, receive, send)

    async def run_get_response(self, request: HttpRequest) -> HttpResponseBase:
        view = asyncio.create_task(self._respond(request))
        try:
            response = await asyncio.shield(view)
        except asyncio.CancelledError:
            # A view in a thread cannot be stopped, and it may have begun something that only the
            # response's source can settle.
            await asyncio.wait((view,))
            if view.exception() is None:
                await _abandon(view.result())
            raise
        return response

    async def _respond(self, request: HttpRequest) -> HttpResponseBase:
        if _API.match(request.path_info):
            return await run_in(_VIEWS, partial(self._views.get_response, request))
        response = await super().run_get_response(request)
        if isinstance(response, EventStreamResponse):
            # The view's thread stays with the request, and its connections with the thread.
            await sync_to_async(connections.close_all)()
        return response


async def _abandon(response: HttpResponseBase) -> None:
    if isinstance(response, EventStreamResponse):
        await response.abandon()
    await sync_to_async(response.close)()
