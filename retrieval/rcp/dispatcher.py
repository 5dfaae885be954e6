"""From one incoming JSON text to calls that are ready to start: the order of checks of RCP/1.

Below: messages, params, calls. Above: transports. Knows no transport and starts nothing: what can
be answered at once is answered through `done`; accepted requests come back as calls, registered
and cancellable, for the transport to start.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from retrieval.rcp.batches import Batch
from retrieval.rcp.calls import Call, Done
from retrieval.rcp.capabilities import LIFECYCLE, METHODS, Advertised
from retrieval.rcp.errors import (
    Cancelled,
    CapabilityMissing,
    InvalidParams,
    InvalidRequest,
    NotInitialized,
    NotJsonRpc,
    PayloadTooLarge,
    RcpError,
    UnknownMethod,
    error_of,
)
from retrieval.rcp.inflight import Key, key_of
from retrieval.rcp.jsonio import loads
from retrieval.rcp.lifecycle import Lifecycle
from retrieval.rcp.messages import (
    CANCEL,
    NOTIFICATIONS,
    RequestId,
    failure,
    id_of,
    is_request_id,
    read_message,
    success,
)
from retrieval.rcp.peers import Caller, Peer
from retrieval.rcp.progress import ProgressToken
from retrieval.rcp.routes import Route
from retrieval.rcp.runtime import Runtime

Guard: TypeAlias = Callable[[Caller, str], None]  # raises Unauthorized, RateLimited, …


class Dispatcher:
    def __init__(
        self,
        *,
        routes: Mapping[str, Route],
        advertised: Advertised,
        lifecycle: Lifecycle,
        guards: list[Guard],
        runtime: Runtime,
    ) -> None:
        self._routes = routes
        self._advertised = advertised
        self._lifecycle = lifecycle
        self._guards = guards
        self._runtime = runtime
        self._limits = runtime.limits

    def receive(self, raw: bytes, peer: Peer, done: Done) -> list[Call]:
        """Take one text off the wire: a message or a batch. Returns the calls to start.

        `done` is called exactly once, now or when the calls are settled: with the reply, with a
        batch's replies joined, or with None where nothing is to be said.
        """
        try:
            message = self.decode(raw)
        except RcpError as error:
            done(failure(None, error))
            return []
        return self.receive_decoded(message, peer, done)

    def decode(self, raw: bytes) -> Any:
        """Raises ParseError or PayloadTooLarge."""
        if len(raw) > self._limits.message_bytes:
            raise PayloadTooLarge(f"a message may have {self._limits.message_bytes} bytes")
        return loads(raw, max_depth=self._limits.depth)

    def receive_decoded(self, message: Any, peer: Peer, done: Done) -> list[Call]:
        if type(message) is not list:
            call = self._receive_one(message, peer, done)
            return [] if call is None else [call]
        if not message:
            done(failure(None, NotJsonRpc("a batch holds at least one message")))
            return []
        if len(message) > self._limits.batch:
            refusal = PayloadTooLarge(f"a batch may hold {self._limits.batch} messages")
            done(failure(None, refusal))
            return []
        batch = Batch(len(message), done)
        calls = [self._receive_one(member, peer, batch.add) for member in message]
        return [call for call in calls if call is not None and not call.settled]

    def _receive_one(self, message: Any, peer: Peer, done: Done) -> Call | None:
        id_ = None
        try:
            id_, method, params = read_message(message)
            if id_ is None:
                self._notice(method, params, peer)
                done(None)
                return None
            key = key_of(peer.caller.scope, id_)
            if peer.session.unique_ids and key in self._runtime.in_flight:
                id_ = None  # under its own id this answer would pass for the earlier request's
                raise InvalidRequest("the id is in use by a request in flight")
            if method.startswith(NOTIFICATIONS):
                raise InvalidRequest("a notification carries no id")
            for guard in self._guards:
                guard(peer.caller, method)
            if peer.session.closed:
                raise InvalidRequest("the session was shut down")
            if method not in LIFECYCLE:
                return self._accept(id_, method, params, key, peer, done)
            token_of(params)
            done(success(id_, self._lifecycle.answer(method, params, peer.session)))
        except NotJsonRpc as error:
            done(failure(id_of(message), error))
        except Exception as error:
            done(failure(id_, error_of(error, where="the dispatcher")))
        return None

    def _accept(
        self,
        id_: RequestId,
        method: str,
        params: dict[str, Any],
        key: Key,
        peer: Peer,
        done: Done,
    ) -> Call:
        if not (peer.session.initialized or peer.session.stateless):
            raise NotInitialized("call initialize first")
        route = self._route(method)
        token = token_of(params)
        notes: list[str] = []
        if route.check is not None:
            params = route.check(params, self._advertised, notes)
        call = Call(id_, route, params, peer, done, self._runtime)
        call.notes = notes
        call.key = key if peer.caller.scope is not None else (object(),)
        if "streaming" in self._advertised:
            call.token = token
        self._runtime.in_flight.add(call)
        return call

    def _route(self, method: str) -> Route:
        route = self._routes.get(method)
        if route is not None and (route.capability is None or route.capability in self._advertised):
            return route
        if method not in METHODS:
            raise UnknownMethod(f"there is no method {method!r}")
        raise CapabilityMissing(f"{method} is not offered by this server")

    def _notice(self, method: str, params: Mapping[str, Any], peer: Peer) -> None:
        """Act on a notification; whatever is wrong with it, it is never answered."""
        id_ = params.get("id")
        if method != CANCEL or not is_request_id(id_) or peer.caller.scope is None:
            return
        call = self._runtime.in_flight.find(key_of(peer.caller.scope, id_))
        if call is not None:
            call.abort(Cancelled("the request was cancelled"))


def token_of(params: Mapping[str, Any]) -> ProgressToken | None:
    """The progress token that a request carries. Raises InvalidParams for a mistyped one."""
    if "_meta" not in params or (meta := params["_meta"]) is None:
        return None
    if type(meta) is not dict:
        raise InvalidParams("_meta: must be an object", field="_meta")
    token = meta.get("progressToken")
    if token is not None and type(token) not in (str, int):
        raise InvalidParams(
            "_meta.progressToken: must be a string or an integer", field="_meta.progressToken"
        )
    return token
