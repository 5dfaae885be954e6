"""The site, and at `/_tasks` how many asyncio tasks the worker has."""

from __future__ import annotations

import asyncio
import json
import os
from typing import Any

from fastrag_site.asgi import application as site


async def application(scope: dict[str, Any], receive: Any, send: Any) -> None:
    if scope["type"] != "http" or scope["path"] != "/_tasks":
        await site(scope, receive, send)
        return
    body = json.dumps({"pid": os.getpid(), "tasks": len(asyncio.all_tasks())}).encode()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": body})
