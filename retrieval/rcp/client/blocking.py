"""The client for threads: the asynchronous one on an event loop of its own, in a daemon thread.

Below: aio. Above: applications. May be used from several threads at once. Progress callbacks run
in the thread that makes the call.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from retrieval.rcp.capabilities import Capability
from retrieval.rcp.client import calls
from retrieval.rcp.client.aio import DEFAULT_TIMEOUT, AsyncClient, OnLog
from retrieval.rcp.client.calls import Asked, Options
from retrieval.rcp.messages import RequestId
from retrieval.rcp.progress import Progress
from retrieval.rcp.workers import LoopThread

P = ParamSpec("P")
T = TypeVar("T")


def _blocking(build: Callable[P, Asked[T]]) -> Callable[Concatenate[Client, P], T]:
    @wraps(build)
    def method(self: Client, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self.perform(build(*args, **kwargs))

    return method


class Client:
    """A session with one server; made by `connect_stdio` or `connect_http`.

    >>> with Client.connect_stdio(["python3", "server.py"]) as client:
    ...     for hit in client.retrieve("eiffel tower", 3)["hits"]:
    ...         print(hit["id"], hit["score"])
    """

    def __init__(self, client: AsyncClient, loop: LoopThread) -> None:
        self._client = client
        self._loop = loop

    @classmethod
    def connect_stdio(
        cls,
        argv: Sequence[str],
        *,
        timeout: float = DEFAULT_TIMEOUT,
        env: Mapping[str, str] | None = None,
        cwd: str | Path | None = None,
        on_log: OnLog | None = None,
    ) -> Self:
        """Start a server as a child process and shake hands."""
        return cls._open(
            AsyncClient.connect_stdio(argv, timeout=timeout, env=env, cwd=cwd, on_log=on_log)
        )

    @classmethod
    def connect_http(
        cls,
        url: str,
        *,
        timeout: float = DEFAULT_TIMEOUT,
        headers: Mapping[str, str] | None = None,
        on_log: OnLog | None = None,
    ) -> Self:
        """Shake hands with the server at a URL such as `http://127.0.0.1:8000/rcp`."""
        return cls._open(
            AsyncClient.connect_http(url, timeout=timeout, headers=headers, on_log=on_log)
        )

    @classmethod
    def _open(cls, opening: Coroutine[Any, Any, AsyncClient]) -> Self:
        loop = LoopThread()
        try:
            client = asyncio.run_coroutine_threadsafe(opening, loop.get()).result()
        except BaseException:
            loop.close()
            raise
        return cls(client, loop)

    @property
    def server(self) -> Mapping[str, str]:
        return self._client.server

    @property
    def protocol_version(self) -> int:
        return self._client.protocol_version

    @property
    def capabilities(self) -> Mapping[str, Any]:
        return self._client.capabilities

    def supports(self, capability: Capability) -> bool:
        return self._client.supports(capability)

    # Calls. Each raises RcpError; CapabilityMissing before anything is sent.

    retrieve = _blocking(calls.retrieve)
    rerank = _blocking(calls.rerank)
    embed = _blocking(calls.embed)
    embed_sparse = _blocking(calls.embed_sparse)
    embed_multi = _blocking(calls.embed_multi)
    index_add = _blocking(calls.index_add)
    index_delete = _blocking(calls.index_delete)
    feedback = _blocking(calls.feedback)
    transform = _blocking(calls.transform)
    graph = _blocking(calls.graph)
    memory_build = _blocking(calls.memory_build)
    memory_recall = _blocking(calls.memory_recall)
    catalog = _blocking(calls.catalog)
    info = _blocking(calls.info)
    ping = _blocking(calls.ping)
    call = _blocking(calls.call)

    def perform(self, asked: Asked[T]) -> T:
        on_progress = asked.options.get("on_progress")
        if on_progress is None:
            return self._wait(self._client.perform(asked))
        inbox: SimpleQueue[Progress | None] = SimpleQueue()
        options: Options = {**asked.options, "on_progress": inbox.put}
        future = asyncio.run_coroutine_threadsafe(
            self._client.perform(replace(asked, options=options)), self._loop.get()
        )
        future.add_done_callback(lambda _: inbox.put(None))
        try:
            while (progress := inbox.get()) is not None:
                on_progress(progress)
            return future.result()
        finally:
            future.cancel()  # where the callback failed, or the user interrupted

    def cancel(self, id_: RequestId, reason: str | None = None) -> None:
        """Ask the server to stop a request; the call under that id raises Cancelled."""
        self._wait(self._client.cancel(id_, reason))

    def shutdown(self) -> None:
        """Ask the server to end the session, and close. Never raises for a server that is gone."""
        self._wait(self._client.shutdown())
        self._loop.close()

    def close(self) -> None:
        self._wait(self._client.close())
        self._loop.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def _wait(self, coroutine: Coroutine[Any, Any, T]) -> T:
        future = asyncio.run_coroutine_threadsafe(coroutine, self._loop.get())
        try:
            return future.result()
        finally:
            future.cancel()
