"""The engine over a really indexed site, spoken to in RCP messages.

The site is indexed once for the whole folder; each test's own changes are rolled back.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import orjson
import pytest
from pytest_django import DjangoDbBlocker

from retrieval import rcp
from retrieval.handlers.server import local_server
from retrieval.ingest.sites import site_delete
from retrieval.models import IndexState
from retrieval.rcp.calls import Call
from retrieval.rcp.messages import Reply
from retrieval.rcp.peers import Peer
from retrieval.rcp.session import Session
from tests.retrieval.handlers import corpus
from tests.retrieval.rcp import schema


@dataclass
class Said:
    """One answer with the frames before it, all of the protocol's shape."""

    reply: dict[str, Any]
    frames: list[dict[str, Any]] = field(default_factory=list)

    @property
    def result(self) -> Any:
        assert "result" in self.reply, self.reply
        return self.reply["result"]

    @property
    def error(self) -> Any:
        assert "error" in self.reply, self.reply
        return self.reply["error"]

    @property
    def hits(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.result["hits"]
        return found

    @property
    def ids(self) -> list[str]:
        return [hit["id"] for hit in self.hits]

    @property
    def pages(self) -> list[str]:
        """What follows the site's address in the hits' addresses."""
        return [hit["meta"]["url"].removeprefix(corpus.LOCATION) for hit in self.hits]

    def sent(self, method: str) -> list[dict[str, Any]]:
        return [frame["params"] for frame in self.frames if frame["method"] == method]

    @property
    def stages(self) -> list[dict[str, Any]]:
        return self.sent("notifications/progress")


class Engine:
    """Runs each request to its end in the thread of the test, so in its transaction."""

    def __init__(self, server: rcp.Server) -> None:
        self.server = server
        self.session = Session(initialized=True, unique_ids=False)
        self.caller = rcp.Caller()

    def ask(self, method: str, /, *, token: Any = None, **params: Any) -> Said:
        frames: list[dict[str, Any]] = []
        replies: list[Reply | None] = []

        class Outlet:
            def frame(self, text: bytes, call: Call, *, wait: bool) -> bool:
                frames.append(orjson.loads(text))
                return True

        if token is not None:
            params["_meta"] = {"progressToken": token}
        peer = Peer(session=self.session, caller=self.caller, outlet=Outlet(), log_outlet=Outlet())
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        raw = orjson.dumps(message)
        for call in self.server.dispatcher.receive(raw, peer, replies.append):
            call.run()
        (reply,) = replies
        assert reply is not None
        said = Said(reply=orjson.loads(reply.text), frames=frames)
        for frame in frames:
            schema.check(frame)
        schema.check(said.reply, method=method)
        return said

    def retrieve(self, query: str = "pump pressure", k: int = 5, **params: Any) -> Said:
        return self.ask("retrieve", query=query, k=k, **params)

    def add(self, *documents: dict[str, Any], **params: Any) -> Said:
        return self.ask("index/add", documents=list(documents), **params)


@pytest.fixture(scope="package")
def indexed_site(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    with django_db_blocker.unblock():
        site = corpus.build()
    yield
    with django_db_blocker.unblock():
        site_delete(site)
        IndexState.objects.all().delete()


@pytest.fixture
def engine(indexed_site: None, db: None) -> Iterator[Engine]:
    server = local_server()
    yield Engine(server)
    server.close()
