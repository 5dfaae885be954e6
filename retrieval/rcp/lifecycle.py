"""The methods that a server answers itself: initialize, info, ping, shutdown.

Below: session, capabilities. Above: dispatcher.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from retrieval.rcp.capabilities import PROTOCOL_VERSION, Advertised, Capability
from retrieval.rcp.errors import InvalidParams, InvalidRequest, VersionMismatch
from retrieval.rcp.params import reader
from retrieval.rcp.session import Session

CONFORMANCE = ("L0", "L1", "L2")
_INITIALIZE = reader.shape(
    {
        "protocolVersion": reader.integer,
        "client": reader.shape({"name": reader.text, "version": reader.text}),
        "capabilities": reader.mapping,
    },
    required=("protocolVersion",),
)


class Lifecycle:
    def __init__(self, advertised: Advertised) -> None:
        self.name = "rcp-server"
        self.version = "0"
        self.conformance: str | None = None
        self._advertised = advertised

    def answer(self, method: str, params: Mapping[str, Any], session: Session) -> dict[str, Any]:
        match method:
            case "initialize":
                return self._initialize(params, session)
            case "info":
                return self.describe()
            case "ping":
                return self._ping(params)
        if not session.stateless:
            session.closed = True
        return {}

    def describe(self) -> dict[str, Any]:
        """The result of `info`, and of `initialize` but for the session."""
        return {
            "protocolVersion": PROTOCOL_VERSION,
            "server": {"name": self.name, "version": self.version},
            "capabilities": {key: dict(meta) for key, meta in self._advertised.items()},
            "_meta": {"conformance": self.conformance or self._level()},
        }

    def _level(self) -> str:
        """What holds of every server on this SDK: L2 needs streaming to be offered."""
        return "L2" if Capability.Streaming.value in self._advertised else "L1"

    def _initialize(self, params: Mapping[str, Any], session: Session) -> dict[str, Any]:
        if session.initialized:
            raise InvalidRequest("the session is initialized already")
        read = _INITIALIZE(params, "")
        if min(read["protocolVersion"], PROTOCOL_VERSION) < 1:
            raise VersionMismatch(f"this server speaks protocol version {PROTOCOL_VERSION}")
        result = self.describe()
        if not session.unique_ids:  # HTTP: what this caller may scope its ids with
            result["_meta"]["session"] = session.public_id or new_session_id()
        if not session.stateless:
            session.client = read
            offered = self._advertised.get("log")
            session.wants_log = offered is not None and "log" in read.get("capabilities", {})
            session.initialized = True
        return result

    @staticmethod
    def _ping(params: Mapping[str, Any]) -> dict[str, Any]:
        nonce = params.get("nonce")
        if nonce is None:
            return {}
        if type(nonce) not in (str, int, float):
            raise InvalidParams("nonce: must be a string or a number", field="nonce")
        return {"nonce": nonce}


def new_session_id() -> str:
    return uuid4().hex
