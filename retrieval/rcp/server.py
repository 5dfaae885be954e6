"""The server that applications build: handlers and capabilities in, three transports out.

Below: dispatcher, transports. Above: applications, the site's endpoint.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar, overload

from retrieval.rcp.calls import Call
from retrieval.rcp.capabilities import Capability
from retrieval.rcp.dispatcher import Dispatcher, Guard
from retrieval.rcp.lifecycle import CONFORMANCE, Lifecycle
from retrieval.rcp.limits import Limits
from retrieval.rcp.messages import Reply
from retrieval.rcp.peers import LOCAL, Caller, Peer
from retrieval.rcp.routes import Handler, Route
from retrieval.rcp.runtime import Runtime
from retrieval.rcp.session import Session

if TYPE_CHECKING:
    from retrieval.rcp.transports.http import HttpEndpoint, Identify

H = TypeVar("H", bound=Handler)
OnFrame = Callable[[Any], None]


class Server:
    """An RCP/1 server.

    >>> server = Server()
    >>> server.set_info("demo", "1.0")
    >>> server.advertise(Capability.Retrieve, {"maxK": 100})
    >>> @server.on("retrieve")
    ... def retrieve(params):
    ...     return {"hits": []}
    """

    def __init__(self, *, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self._advertised: dict[str, dict[str, Any]] = {}
        self._routes: dict[str, Route] = {}
        self._guards: list[Guard] = []
        self._lifecycle = Lifecycle(self._advertised)
        self._session = Session()  # of `handle`
        self._stop: list[Callable[[], None]] = []
        self.runtime = Runtime(self.limits)
        self.dispatcher = Dispatcher(
            routes=self._routes,
            advertised=self._advertised,
            lifecycle=self._lifecycle,
            guards=self._guards,
            runtime=self.runtime,
        )

    # What the server is.

    def set_info(self, name: str, version: str) -> None:
        self._lifecycle.name = name
        self._lifecycle.version = version

    def set_conformance(self, level: str) -> None:
        """Claim a level; by default L2 where streaming is advertised, else L1."""
        if level not in CONFORMANCE:
            raise ValueError(f"conformance is one of {', '.join(CONFORMANCE)}")
        self._lifecycle.conformance = level

    def advertise(self, capability: Capability, meta: Mapping[str, Any] | None = None) -> None:
        """Offer a capability with its metadata; once serving, leave the set as it is."""
        self._advertised[Capability(capability).value] = dict(meta or {})

    @property
    def capabilities(self) -> Mapping[str, Mapping[str, Any]]:
        return self._advertised

    # What it does.

    @overload
    def on(self, method: str, fn: H) -> H: ...
    @overload
    def on(self, method: str, fn: None = None) -> Callable[[H], H]: ...
    def on(self, method: str, fn: H | None = None) -> H | Callable[[H], H]:
        """Register a handler, directly or as a decorator.

        A handler takes the params and returns the result. It may be a function, a generator, a
        coroutine function or an async generator; see `stream`. Those that are async share a loop,
        over HTTP with the server's connections: what blocks belongs into a plain function.
        """

        def register(handler: H) -> H:
            self._routes[method] = Route(method, handler)
            return handler

        return register if fn is None else register(fn)

    @overload
    def stream(self, method: str, fn: H) -> H: ...
    @overload
    def stream(self, method: str, fn: None = None) -> Callable[[H], H]: ...
    def stream(self, method: str, fn: H | None = None) -> H | Callable[[H], H]:
        """Register a handler that yields `Progress` and returns the result.

        An async generator, which cannot return, yields its result last.
        """
        return self.on(method) if fn is None else self.on(method, fn)

    def guard(self, fn: Guard) -> Guard:
        """Add a check that runs before anything else: `fn(caller, method)` raises to refuse.

        Unauthorized is answered with -32012, RateLimited with -32011. It must not block.
        """
        self._guards.append(fn)
        return fn

    # Transports.

    def handle(
        self, message: Any, *, caller: Caller = LOCAL, on_frame: OnFrame | None = None
    ) -> Any:
        """Take one decoded message or batch, or its JSON text, and wait for the reply.

        Returns the decoded reply, or None for a notification. `on_frame` receives the decoded
        notifications that are sent meanwhile.
        """
        self.runtime.start()
        replies: list[Reply | None] = []
        ready = threading.Event()

        def done(reply: Reply | None) -> None:
            replies.append(reply)
            ready.set()

        outlet = None if on_frame is None else _Callback(on_frame)
        peer = Peer(session=self._session, caller=caller, outlet=outlet, log_outlet=outlet)
        if isinstance(message, str | bytes):
            raw = message.encode() if isinstance(message, str) else message
            calls = self.dispatcher.receive(raw, peer, done)
        else:
            calls = self.dispatcher.receive_decoded(message, peer, done)
        for call in calls:
            call.start()
        ready.wait()
        return None if replies[0] is None else json.loads(replies[0].text)

    def serve_stdio(self) -> None:
        """Serve one client over stdin and stdout until it shuts down or closes stdin."""
        from retrieval.rcp.transports.stdio import serve_process

        serve_process(self)

    def serve_http(
        self,
        port: int,
        host: str = "127.0.0.1",
        *,
        stateless: bool = False,
        identify: Identify | None = None,
        on_ready: Callable[[int], None] | None = None,
    ) -> None:
        """Serve `POST /rcp` until interrupted or closed.

        One session for all, like stdio's: after its `shutdown` every request is refused.
        `stateless`: every request counts as initialized, and `shutdown` changes nothing.
        Port 0 takes a free one; `on_ready` is told which. `identify` maps headers to the caller.
        """
        from retrieval.rcp.transports.serve import serve

        endpoint = self.endpoint(stateless=stateless)
        serve(self, endpoint, port, host, identify=identify, on_ready=on_ready)

    def endpoint(self, *, stateless: bool = True) -> HttpEndpoint:
        """The HTTP rules without a web framework, for a site to adapt."""
        from retrieval.rcp.transports.http import HttpEndpoint

        return HttpEndpoint(self.dispatcher, self.runtime, self.capabilities, stateless=stateless)

    def on_close(self, stop: Callable[[], None]) -> None:
        """What a transport wants done when the server is closed."""
        self._stop.append(stop)

    def close(self) -> None:
        """Stop serving from another thread: calls in flight are cancelled."""
        for stop in self._stop:
            stop()
        self.runtime.close()


class _Callback:
    """Outlet of `handle`: hands each frame over in the thread of its handler."""

    def __init__(self, on_frame: OnFrame) -> None:
        self._on_frame = on_frame
        self._lock = threading.Lock()

    def frame(self, text: bytes, call: Call, *, wait: bool) -> bool:
        with self._lock:
            if not call.settled:
                self._on_frame(json.loads(text))
        return True
