"""A name for each request, in its log lines and in the X-Request-ID header of its response.

Below: nothing. Above: asgi wraps the application in it, LOGGING in settings uses the filters.
"""

from __future__ import annotations

import json
import logging
import re
import uuid
from contextvars import ContextVar

from fastrag_site.lifespan import App, Message, Receive, Scope, Send

current: ContextVar[str] = ContextVar("request_id", default="-")

_HEADER = b"x-request-id"
_USABLE = re.compile(rb"[A-Za-z0-9._:-]{1,64}")  # nothing that could forge a log line


class RequestId:
    """ASGI middleware; keeps an id that a proxy in front has given."""

    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        given = next((value for name, value in scope["headers"] if name == _HEADER), b"")
        name = given if _USABLE.fullmatch(given) else uuid.uuid4().hex.encode()
        current.set(name.decode())

        async def send_named(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message["headers"], (_HEADER, name)]}
            await send(message)

        await self.app(scope, receive, send_named)


class RequestIdFilter(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        record.request_id = current.get()
        return True


class OneLineRefusals(logging.Filter):
    """What Django finds suspicious in a request is the client's fault: no traceback of ours."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.name.startswith("django.security."):
            record.levelno, record.levelname = logging.WARNING, "WARNING"
            record.exc_info = record.exc_text = None
            record.msg, record.args = " ".join(record.getMessage().split()), ()
        return True


class JsonFormatter(logging.Formatter):
    """One object a line, for log collectors (LOG_JSON)."""

    def format(self, record: logging.LogRecord) -> str:
        entry = {
            "time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S%z"),
            "level": record.levelname,
            "logger": record.name,
            "request_id": current.get(),
            "message": record.getMessage(),
        }
        if record.exc_info:
            entry["traceback"] = self.formatException(record.exc_info)
        return json.dumps(entry, ensure_ascii=False)
