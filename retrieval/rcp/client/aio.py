"""The asynchronous client: handshake, gating, time-outs, progress, cancel.

Below: calls, stdio, http. Above: blocking, applications.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, Self, TypeVar
from uuid import uuid4

from retrieval.rcp.capabilities import PROTOCOL_VERSION, Capability
from retrieval.rcp.client import calls
from retrieval.rcp.client.calls import Asked, OnProgress
from retrieval.rcp.client.results import ServerInfo
from retrieval.rcp.client.stdio import StdioClientTransport
from retrieval.rcp.client.transport import ClientTransport
from retrieval.rcp.errors import (
    CapabilityMissing,
    InternalError,
    InvalidRequest,
    RcpError,
    Timeout,
    error_from_wire,
)
from retrieval.rcp.inflight import Key, key_of
from retrieval.rcp.messages import CANCEL, LOG, PROGRESS, RequestId, notification, request
from retrieval.rcp.progress import Progress, ProgressToken

logger = logging.getLogger("rcp")

P = ParamSpec("P")
T = TypeVar("T")
OnLog = Callable[[Mapping[str, Any]], None]

DEFAULT_TIMEOUT = 30.0  # seconds a call
CANCEL_TIMEOUT = 1.0  # seconds to tell the server that a call is off


def _awaiting(
    build: Callable[P, Asked[T]],
) -> Callable[Concatenate[AsyncClient, P], Coroutine[Any, Any, T]]:
    @wraps(build)
    async def method(self: AsyncClient, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.perform(build(*args, **kwargs))

    return method


class AsyncClient:
    """A session with one server; made by `connect_stdio` or `connect_http`.

    >>> async with await AsyncClient.connect_http("http://127.0.0.1:8000/rcp") as client:
    ...     result = await client.retrieve("eiffel tower", 3)
    """

    def __init__(
        self,
        transport: ClientTransport,
        *,
        timeout: float = DEFAULT_TIMEOUT,
        on_log: OnLog | None = None,
    ) -> None:
        self.timeout = timeout
        self.info_at_start: ServerInfo = {"protocolVersion": 0, "server": {}, "capabilities": {}}
        self._transport = transport
        self._transport.on_notification = self._notice
        self._on_log = on_log
        self._ids = itertools.count(1)
        self._active: set[Key] = set()  # ids in flight
        self._listeners: dict[ProgressToken, OnProgress] = {}
        self._farewells: set[asyncio.Task[None]] = set()

    @classmethod
    async def connect_stdio(
        cls,
        argv: Sequence[str],
        *,
        timeout: float = DEFAULT_TIMEOUT,
        env: Mapping[str, str] | None = None,
        cwd: str | Path | None = None,
        on_log: OnLog | None = None,
    ) -> Self:
        """Start a server as a child process and shake hands."""
        transport = await StdioClientTransport.start(argv, env=env, cwd=cwd)
        return await cls(transport, timeout=timeout, on_log=on_log).open()

    @classmethod
    async def connect_http(
        cls,
        url: str,
        *,
        timeout: float = DEFAULT_TIMEOUT,
        headers: Mapping[str, str] | None = None,
        on_log: OnLog | None = None,
    ) -> Self:
        """Shake hands with the server at a URL such as `http://127.0.0.1:8000/rcp`."""
        from retrieval.rcp.client.http import HttpClientTransport  # an HTTP library to load

        transport = HttpClientTransport(url, headers=headers)
        return await cls(transport, timeout=timeout, on_log=on_log).open()

    async def open(self) -> Self:
        """Shake hands. Closes the transport when that fails."""
        try:
            self.info_at_start = await self._initialize()
        except BaseException:
            await self._say_farewell(0.0)  # whoever did not answer is not told either
            await self._transport.close(at_once=True)
            raise
        session = self.info_at_start.get("_meta", {}).get("session")
        self._transport.use_session(session if isinstance(session, str) else uuid4().hex)
        return self

    async def _initialize(self) -> ServerInfo:
        wanted: dict[str, Any] = {"streaming": {}, **({} if self._on_log is None else {"log": {}})}
        asked = calls.initialize("fastrag-rcp", "1", wanted, PROTOCOL_VERSION)
        try:
            return await self.perform(asked)
        except InvalidRequest:  # an HTTP server with one session that another client has opened
            return await self.perform(calls.info())

    # What the server is.

    @property
    def server(self) -> Mapping[str, str]:
        return self.info_at_start.get("server", {})

    @property
    def protocol_version(self) -> int:
        return self.info_at_start["protocolVersion"]

    @property
    def capabilities(self) -> Mapping[str, Any]:
        return self.info_at_start["capabilities"]

    def supports(self, capability: Capability) -> bool:
        return capability.value in self.capabilities

    # Calls. Each raises RcpError; CapabilityMissing before anything is sent.

    retrieve = _awaiting(calls.retrieve)
    rerank = _awaiting(calls.rerank)
    embed = _awaiting(calls.embed)
    embed_sparse = _awaiting(calls.embed_sparse)
    embed_multi = _awaiting(calls.embed_multi)
    index_add = _awaiting(calls.index_add)
    index_delete = _awaiting(calls.index_delete)
    feedback = _awaiting(calls.feedback)
    transform = _awaiting(calls.transform)
    graph = _awaiting(calls.graph)
    memory_build = _awaiting(calls.memory_build)
    memory_recall = _awaiting(calls.memory_recall)
    catalog = _awaiting(calls.catalog)
    info = _awaiting(calls.info)
    ping = _awaiting(calls.ping)
    call = _awaiting(calls.call)

    async def perform(self, asked: Asked[T]) -> T:
        """Make one call. Cancelling the task that waits cancels the request, too."""
        capability = asked.capability
        if capability is not None and not self.supports(capability):
            raise CapabilityMissing(f"the server does not offer {capability.value}")
        id_ = self._take_id(asked.options.get("id"))
        params = dict(asked.params)
        token = self._listen(asked.options.get("on_progress"), params)
        try:
            async with asyncio.timeout(asked.options.get("timeout", self.timeout)):
                text = request(id_, asked.method, params)
                response = await self._transport.exchange(id_, text, streams=token is not None)
        except TimeoutError:
            self._call_off(id_)
            raise Timeout(f"no answer to {asked.method} in time") from None
        except asyncio.CancelledError:
            self._call_off(id_)
            raise
        finally:
            self._active.discard(key_of(None, id_))
            if token is not None:
                del self._listeners[token]
        return asked.read(_result_of(response))

    async def cancel(self, id_: RequestId, reason: str | None = None) -> None:
        """Ask the server to stop a request; the call under that id raises Cancelled."""
        params = {"id": id_} if reason is None else {"id": id_, "reason": reason}
        async with asyncio.timeout(self.timeout):
            await self._transport.notify(notification(CANCEL, params))

    async def shutdown(self) -> None:
        """Ask the server to end the session, and close. Never raises for a server that is gone."""
        with contextlib.suppress(RcpError):
            await self.call("shutdown", timeout=min(self.timeout, 5.0))
        await self.close()

    async def close(self) -> None:
        await self._say_farewell(CANCEL_TIMEOUT)
        await self._transport.close()

    async def _say_farewell(self, patience: float) -> None:
        """Let what is being told to the server get out, and leave no task behind."""
        if not self._farewells:
            return
        _, late = await asyncio.wait(set(self._farewells), timeout=patience)
        for task in late:
            task.cancel()
        if late:
            await asyncio.wait(late)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.close()

    def _take_id(self, chosen: RequestId | None) -> RequestId:
        id_ = next(self._ids) if chosen is None else chosen
        while (key := key_of(None, id_)) in self._active:
            if chosen is not None:
                raise ValueError(f"a request under the id {chosen!r} is in flight")
            id_ = next(self._ids)
        self._active.add(key)
        return id_

    def _listen(
        self, on_progress: OnProgress | None, params: dict[str, Any]
    ) -> ProgressToken | None:
        if on_progress is None or not self.supports(Capability.Streaming):
            return None
        token = f"progress-{uuid4().hex}"
        params["_meta"] = {**(params.get("_meta") or {}), "progressToken": token}
        self._listeners[token] = on_progress
        return token

    def _notice(self, message: Mapping[str, Any]) -> None:
        """Take a notification; one that is malformed or not ours is ignored."""
        params = message.get("params")
        if not isinstance(params, Mapping):
            return
        try:
            if message.get("method") == PROGRESS:
                token = params.get("progressToken")
                listener = self._listeners.get(token) if isinstance(token, str | int) else None
                if listener is not None:
                    listener(_progress_of(params))
            elif message.get("method") == LOG and self._on_log is not None:
                self._on_log(params)
        except Exception:
            logger.exception("a callback failed")

    def _call_off(self, id_: RequestId) -> None:
        async def tell() -> None:
            with contextlib.suppress(RcpError, TimeoutError):
                async with asyncio.timeout(CANCEL_TIMEOUT):
                    await self._transport.notify(notification(CANCEL, {"id": id_}))

        task = asyncio.create_task(tell())
        self._farewells.add(task)
        task.add_done_callback(self._farewells.discard)


def _progress_of(params: Mapping[str, Any]) -> Progress:
    progress, stage, message = (params.get(name) for name in ("progress", "stage", "message"))
    return Progress(
        float(progress) if isinstance(progress, int | float) else 0.0,
        stage if isinstance(stage, str) else "",
        message if isinstance(message, str) else None,
        params.get("partial"),
    )


def _result_of(response: Any) -> dict[str, Any]:
    if isinstance(response, Mapping):
        if "error" in response:
            raise error_from_wire(response["error"])
        result = response.get("result")
        if isinstance(result, dict):
            return result
    raise InternalError("the server's answer is not a response")
