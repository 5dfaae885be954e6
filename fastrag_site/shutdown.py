"""The process-wide "draining" signal: no new answers, and open streams are told to end.

Below: conf, errors. Above: asgi installs it, streaming and chats listen to it. Servers run their
own shutdown hooks only after every connection has closed, so `install()` puts itself in front of
the server's handlers of signals, and of uvicorn's own shutdown.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import uvicorn

from fastrag_site.conf import conf
from fastrag_site.errors import ServiceUnavailable

_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_INSIST_SECONDS = 1.0
_Listener = tuple[asyncio.AbstractEventLoop, Callable[[], object]]

_lock = threading.RLock()  # re-entrant: a signal may interrupt its holder in the main thread
_begun = threading.Event()
_listeners: dict[object, _Listener] = {}
_replaced: dict[int, Any] = {}
_wrapped: set[Callable[..., Any]] = set()


def draining() -> bool:
    """Whether this process is about to exit."""
    return _begun.is_set()


def refuse_if_draining() -> None:
    """Raises ServiceUnavailable once draining: call it before a generation starts."""
    if draining():
        raise ServiceUnavailable("The server is restarting; try again shortly.", retry_after=5)


def begin() -> None:
    """Start draining. Idempotent, callable from any thread and from a signal handler."""
    with _lock:
        if _begun.is_set():
            return
        _begun.set()
        listeners = list(_listeners.values())
    for loop, callback in listeners:
        with contextlib.suppress(RuntimeError):  # that loop has closed
            loop.call_soon_threadsafe(callback)


@contextlib.contextmanager
def told(callback: Callable[[], object]) -> Iterator[None]:
    """Within: `callback` runs once, in this event loop, when draining begins (or has begun)."""
    key, loop = object(), asyncio.get_running_loop()
    with _lock:
        _listeners[key] = (loop, callback)
        late = _begun.is_set()
    if late:
        loop.call_soon(callback)
    try:
        yield
    finally:
        with _lock:
            _listeners.pop(key, None)


def install() -> None:
    """Drain on SIGTERM and SIGINT, then do what the server does. Main thread only, idempotent.

    Call it when the server's own handlers are in place: in the lifespan start-up or later.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    _watch_uvicorn()
    for number in _SIGNALS:
        current = signal.getsignal(number)
        if callable(current) and current is not _on_signal:
            _replaced[number] = current
            signal.signal(number, _on_signal)


def _on_signal(number: int, frame: FrameType | None) -> None:
    _leave()
    _replaced[number](number, frame)


def _leave() -> None:
    if not draining():
        threading.Thread(target=_insist, daemon=True).start()
    begin()


def _watch_uvicorn() -> None:
    """uvicorn also leaves without a signal: after so many requests, where that is set."""
    leave = uvicorn.Server.shutdown
    if leave in _wrapped:
        return

    async def told(server: uvicorn.Server, sockets: list[socket.socket] | None = None) -> None:
        server.should_exit = True  # so that it understands when we insist
        _leave()
        await leave(server, sockets)

    _wrapped.add(told)
    uvicorn.Server.shutdown = told  # type: ignore[method-assign,assignment]


def _insist() -> None:
    """A client that does not read keeps its connection open, and the server waits for that.

    By now its stream is closed and stored: tell the server to give up, then leave.
    """
    time.sleep(grace() + _INSIST_SECONDS)
    if not draining():
        return
    os.kill(os.getpid(), signal.SIGINT)  # a second signal makes uvicorn drop its connections
    time.sleep(_INSIST_SECONDS)
    os._exit(128 + signal.SIGTERM)


def reset() -> None:
    """Forget that draining began, and insist on nothing. For tests."""
    _begun.clear()


def grace() -> float:
    """Seconds that an open stream has, from the beginning of draining, to end by itself."""
    return conf().shutdown_grace_seconds
