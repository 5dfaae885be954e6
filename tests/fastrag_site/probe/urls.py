"""Streams whose sources say on standard output what happens to them."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import threading
import time
from collections.abc import AsyncGenerator, Generator
from pathlib import Path

from django.db import connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import path
from rest_framework.request import Request
from rest_framework.views import APIView

from fastrag_site import shutdown, sse
from fastrag_site.streaming import EventStreamResponse
from fastrag_site.threads import drained, in_thread

gate = asyncio.Event()
made = itertools.count()  # events of endless streams


class Gated(APIView):
    """Two events; the second is made only when /open was called."""

    def get(self, request: Request) -> EventStreamResponse:
        async def source() -> AsyncGenerator[bytes, None]:
            yield sse.encode({"n": 1}, "tick")
            await gate.wait()
            gate.clear()
            yield sse.encode({"n": 2}, "tick")

        return EventStreamResponse(source())


class Endless(APIView):
    """?size=: bytes an event. ?interval=: seconds between. ?aware=1: ends when told to drain."""

    throttle_classes = ()

    def get(self, request: Request) -> EventStreamResponse:
        connection.ensure_connection()
        query = request.query_params
        source = endless(
            int(query.get("size", 1)), float(query.get("interval", 0.05)), "aware" in query
        )
        return EventStreamResponse(source)


async def endless(size: int, interval: float, aware: bool) -> AsyncGenerator[bytes, None]:
    print("source started", flush=True)
    stop = asyncio.Event()
    told = shutdown.told(stop.set) if aware else contextlib.nullcontext()
    try:
        with told:
            while not stop.is_set():
                next(made)
                yield sse.encode({"text": "x" * size}, "tick")
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(stop.wait(), interval)
            yield sse.encode({"finish_reason": "interrupted"}, "end")
    finally:
        print("source closed", flush=True)


class Silent(APIView):
    """Three events, each after a silence of more than three keep-alive intervals."""

    def get(self, request: Request) -> EventStreamResponse:
        async def source() -> AsyncGenerator[bytes, None]:
            for n in range(3):
                await asyncio.sleep(0.14)
                yield sse.encode({"n": n}, "tick")

        return EventStreamResponse(source(), keepalive=0.04)


class Slow(APIView):
    """A view that takes its time before it returns a stream."""

    def get(self, request: Request) -> EventStreamResponse:
        print("view started", flush=True)
        time.sleep(0.3)
        return EventStreamResponse(endless(1, 0.05, False))


async def open_gate(request: HttpRequest) -> HttpResponse:
    gate.set()
    return HttpResponse("open")


def ask_database() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
        return int(cursor.fetchone()[0])


def ask_repeatedly() -> Generator[int, None, int]:
    for _ in range(3):
        yield ask_database()
    return 4


async def threads(request: HttpRequest) -> JsonResponse:
    """Use the database from every pool of threads."""
    calls = await asyncio.gather(*(in_thread(ask_database) for _ in range(50)))
    items = await drained(ask_repeatedly)
    left_early = asyncio.create_task(drained(ask_repeatedly))
    await asyncio.sleep(0)
    left_early.cancel()
    return JsonResponse({"calls": sum(calls), "items": items})


async def state(request: HttpRequest) -> JsonResponse:
    """What this process holds."""
    files = []
    for link in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):
            files.append(os.readlink(link))
    return JsonResponse(
        {
            "pid": os.getpid(),
            "made": int(repr(made)[6:-1]),
            "threads": threading.active_count(),
            "tasks": len(asyncio.all_tasks()),
            "database_files": sum(name.endswith("fastrag.sqlite3") for name in files),
        }
    )


urlpatterns = [
    path("gated", Gated.as_view()),
    path("open", open_gate),
    path("endless", Endless.as_view()),
    path("silent", Silent.as_view()),
    path("slow", Slow.as_view()),
    path("threads", threads),
    path("state", state),
]
