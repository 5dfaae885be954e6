"""A small engine whose handlers tests can hold, let go and watch."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Generator
from typing import Any

from retrieval import rcp

WAIT = 10.0  # seconds until a held handler gives up
CORPUS = {"d1": "the cat", "d2": "the eiffel tower", "d5": "a tower of steel"}


class Engine:
    """Methods are chosen by the query: `hold`, `fail:<kind>`, `steps:<n>`, else plain search."""

    def __init__(self, *, limits: rcp.Limits | None = None, streaming: bool = True) -> None:
        self.started = threading.Semaphore(0)
        self.release = threading.Event()
        self.closed = threading.Semaphore(0)
        self.seen: list[dict[str, Any]] = []
        self.server = server = rcp.Server(limits=limits)
        server.set_info("test-engine", "1.0")
        server.advertise(
            rcp.Capability.Retrieve,
            {"maxK": 10, "modes": ["sparse", "hybrid"], "fusion": ["rrf"], "units": ["chunk"]},
        )
        if streaming:
            server.advertise(rcp.Capability.Streaming)
        server.on("retrieve", self.retrieve)

    def retrieve(self, params: dict[str, Any]) -> Any:
        self.seen.append(params)
        kind, _, detail = params["query"].partition(":")
        match kind:
            case "hold":
                return self._hold()
            case "hold-async":
                return self._hold_async()
            case "steps":
                return self._steps(int(detail))
            case "steps-async":
                return self._steps_async(int(detail))
            case "fail":
                self._fail(detail)
        return {"hits": self._hits(params.get("k", 5))}

    def _hits(self, k: int) -> list[dict[str, Any]]:
        ids = sorted(CORPUS)
        return [
            {"id": id_, "score": 1.0 - place / 10, "text": CORPUS[id_]}
            for place, id_ in enumerate(ids)
        ][:k]

    def _hold(self) -> Generator[rcp.Progress, None, dict[str, Any]]:
        try:
            yield rcp.Progress(0.1, "held")
            self.started.release()
            while not self.release.wait(0.01):
                yield rcp.Progress(0.2, "held")
            return {"hits": []}
        finally:
            self.closed.release()

    async def _hold_async(self) -> AsyncGenerator[Any, None]:
        try:
            yield rcp.Progress(0.1, "held")
            self.started.release()
            for _ in range(int(WAIT * 100)):
                if self.release.is_set():
                    break
                await asyncio.sleep(0.01)
            yield {"hits": []}
        finally:
            self.closed.release()

    def _steps(self, count: int) -> Generator[rcp.Progress, None, dict[str, Any]]:
        for step in range(1, count + 1):
            yield rcp.Progress(step / count, f"step:{step}", f"{step} of {count}", ["d2", "d5"])
        return {"hits": self._hits(2)}

    async def _steps_async(self, count: int) -> AsyncGenerator[Any, None]:
        for step in range(1, count + 1):
            yield rcp.Progress(step / count, f"step:{step}", partial={"hits": [{"id": "d2"}]})
            await asyncio.sleep(0)
        yield {"hits": self._hits(2)}

    def _fail(self, kind: str) -> None:
        match kind:
            case "rcp":
                raise rcp.NotFound("no such collection", {"detail": "c1"})
            case "backend":
                raise rcp.BackendUnavailable("the index is down", retry_after_ms=1500)
            case "refused":
                raise ConnectionRefusedError("10.1.2.3:9200 refused, password=hunter2")
            case "bug":
                raise RuntimeError("secret path /etc/passwd")


def initialize(id_: Any = 0) -> dict[str, Any]:
    client = {"name": "tests", "version": "1"}
    params = {"protocolVersion": 1, "client": client, "capabilities": {}}
    return request("initialize", params, id_=id_)


def request(
    method: str, params: dict[str, Any] | None = None, *, id_: Any = 1, token: Any = None
) -> dict[str, Any]:
    message: dict[str, Any] = {"jsonrpc": "2.0", "id": id_, "method": method}
    if params is not None:
        message["params"] = params
    if token is not None:
        message["params"] = {**(params or {}), "_meta": {"progressToken": token}}
    return message


def retrieve(query: str = "tower", *, id_: Any = 1, token: Any = None, **more: Any) -> Any:
    return request("retrieve", {"query": query, "k": 3, **more}, id_=id_, token=token)


def cancel(id_: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": "notifications/cancel", "params": {"id": id_}}
