"""What `streaming.py` compares ours with: three servers of the same frames.

The frames are the chat's own deltas. `/stream?tokens=N` sends N of them.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from fastapi import FastAPI
from fastapi.responses import StreamingResponse
from sse_starlette import EventSourceResponse

MESSAGE_ID = "0198f2f4-7e4a-7c56-9e0c-3f1a5c6d7e8f"
TEXT = " token"


def delta() -> dict[str, Any]:
    return {"message_id": MESSAGE_ID, "delta": {"type": "text", "text": TEXT}}


def to_json(data: dict[str, Any]) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


async def bare(
    scope: dict[str, Any],
    receive: Callable[[], Awaitable[dict[str, Any]]],
    send: Callable[[dict[str, Any]], Awaitable[None]],
) -> None:
    """ASGI and nothing else: a frame, a send."""
    if scope["type"] != "http":
        return
    headers = [(b"content-type", b"text/event-stream; charset=utf-8")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    for _ in range(int(scope["query_string"].partition(b"=")[2])):
        frame = f"event: delta\ndata: {to_json(delta())}\n\n".encode()
        await send({"type": "http.response.body", "body": frame, "more_body": True})
    await send({"type": "http.response.body", "body": b"", "more_body": False})


streaming = FastAPI()
starlette = FastAPI()


@streaming.get("/stream")
async def plain_stream(tokens: int) -> StreamingResponse:
    async def frames() -> AsyncIterator[str]:
        for _ in range(tokens):
            yield f"event: delta\ndata: {to_json(delta())}\n\n"

    return StreamingResponse(frames(), media_type="text/event-stream")


@starlette.get("/stream")
async def event_stream(tokens: int) -> EventSourceResponse:
    async def events() -> AsyncIterator[dict[str, Any]]:
        for _ in range(tokens):
            yield {"event": "delta", "data": to_json(delta())}

    return EventSourceResponse(events())
