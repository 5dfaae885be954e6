"""What the live tests share: servers with a chat model of the test's choice, and their clients."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from typing import Any

from tests.live import Server, until
from tests.sse_client import Event, Stream

SLOW = {"BACKEND": "tests.chats.parts.EndlessModel", "OPTIONS": {"delay": 0.02}}
SILENT = {"BACKEND": "tests.chats.parts.EndlessModel", "OPTIONS": {"silent": True}}
# Each token more than a socket buffers, so that a client that does not read blocks its server.
HEAVY = {"BACKEND": "tests.chats.parts.EndlessModel", "OPTIONS": {"delay": 0, "size": 200_000}}
SLOW_SEARCH = {"BACKEND": "tests.chats.parts.SlowEmbedder"}


def env(model: dict[str, Any] | None = None, **conf: Any) -> dict[str, str]:
    """Environment of a server with this chat model and these keys of conf."""
    values = {"embedder": None, **conf}
    if model is not None:
        values["chat_model"] = model
    return {
        f"FASTRAG_{key.upper()}": value if isinstance(value, str) else json.dumps(value)
        for key, value in values.items()
    }


@dataclass
class Visitor:
    """A client with its session cookie."""

    server: Server
    cookie: dict[str, str] = field(default_factory=dict)

    def ask(self, content: str = "Why?", *, chat_id: str | None = None, **options: Any) -> Stream:
        path = f"/api/chats/{chat_id}/messages" if chat_id else "/api/chats"
        stream = self.server.post(path, {"content": content}, headers=self.cookie, **options)
        if cookie := stream.headers.get("set-cookie"):
            self.cookie = {"Cookie": cookie.partition(";")[0]}
        return stream

    def get(self, path: str) -> Any:
        with self.server.get(path, headers=self.cookie) as response:
            assert response.status == 200, response.read()
            return response.json()

    def with_session(self) -> Visitor:
        """Known to the server: parallel first requests would each get a session of their own."""
        with self.ask() as stream:
            stream.event()
        until(lambda: not journal(self.server), 5, "end of the first answer")
        return self


def begun(stream: Stream) -> Event:
    event = stream.event()
    assert event is not None and event.name == "message_start"
    return event


def first_text(stream: Stream) -> str:
    while (event := stream.event()) is not None:
        if event.name == "delta":
            return str(event.data["delta"]["text"])
    raise AssertionError("the answer ended without text")


def journal(server: Server) -> int:
    return int(server.sql("select count(*) from chats_generation")[0][0])


def answers(server: Server, chat_id: str | None = None) -> list[tuple[str, str]]:
    """Finish reason and text of all answers, or of those of one chat."""
    query = "select finish_reason, content from chats_message where role = 'assistant'"
    if chat_id is not None:
        query += f" and chat_id = '{chat_id.replace('-', '')}'"
    return [(reason, content) for reason, content in server.sql(query)]


def open_databases(server: Server) -> int:
    """How many file descriptors the server holds on its database."""
    folder = f"/proc/{server.process.pid}/fd"
    found = 0
    for name in os.listdir(folder):
        try:
            found += "fastrag.sqlite3" in os.readlink(f"{folder}/{name}")
        except OSError:
            continue
    return found
