"""Django's ASGI handler, with two promises about event streams.

Below: streaming. Above: asgi. A stream whose client left while the view still ran is closed like
any other, and no database connection is held while a stream is open.
"""

from __future__ import annotations

import asyncio

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIHandler
from django.db import connections
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from fastrag_site.streaming import EventStreamResponse


class Handler(ASGIHandler):
    async def run_get_response(self, request: HttpRequest) -> HttpResponseBase:
        view = asyncio.create_task(super().run_get_response(request))
        try:
            response = await asyncio.shield(view)
        except asyncio.CancelledError:
            # A view in a thread cannot be stopped, and it may have begun something that only the
            # response's source can settle.
            await asyncio.wait((view,))
            if view.exception() is None:
                await _abandon(view.result())
            raise
        if isinstance(response, EventStreamResponse):
            # The view's thread stays with the request, and its connections with the thread.
            await sync_to_async(connections.close_all)()
        return response


async def _abandon(response: HttpResponseBase) -> None:
    if isinstance(response, EventStreamResponse):
        await response.abandon()
    await sync_to_async(response.close)()
