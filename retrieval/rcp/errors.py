"""Every error of the protocol, as one tree; handlers raise them, clients catch them.

RcpError (any code)
├── ParseError -32700, InvalidRequest -32600 ─ NotJsonRpc, InvalidParams -32602 (field)
├── NotInitialized -32001, VersionMismatch -32002, CapabilityMissing -32003, UnknownMethod -32004
├── OptionUnsupported -32005 (option), Cancelled -32006, Timeout -32014
├── BackendUnavailable -32010, RateLimited -32011 (retryable), PayloadTooLarge -32013
├── Unauthorized -32012, NotFound -32015, Conflict -32016, InternalError -32603
└── ConnectionLost -32010         raised by clients alone: the peer is gone

Below: codes. Above: everything. `error_of` alone maps exceptions to the wire.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, ClassVar

from retrieval.rcp.codes import Errc

logger = logging.getLogger("rcp")


class RcpError(Exception):
    """An error with its wire code. `message` and `data` go to the peer: keep secrets out."""

    def __init__(self, code: int, message: str, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code = int(code)
        self.message = message
        self.data = {name: value for name, value in (data or {}).items() if value is not None}

    def to_wire(self) -> dict[str, Any]:
        wire: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.data:
            wire["data"] = self.data
        return wire

    def __str__(self) -> str:
        return f"{self.message} ({self.code})"

    def __reduce__(self) -> tuple[Any, ...]:
        return RcpError, (self.code, self.message, self.data)


class CodedError(RcpError):
    """Base of the errors whose class fixes the code."""

    fixed_code: ClassVar[Errc]

    def __init__(self, message: str, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(self.fixed_code, message, data)


class ParseError(CodedError):
    fixed_code = Errc.PARSE_ERROR


class InvalidRequest(CodedError):
    fixed_code = Errc.INVALID_REQUEST


class NotJsonRpc(InvalidRequest):
    """JSON, but not a JSON-RPC message: HTTP answers 400."""


class InvalidParams(CodedError):
    fixed_code = Errc.INVALID_PARAMS

    def __init__(self, message: str, *, field: str) -> None:
        super().__init__(message, {"field": field})


class NotInitialized(CodedError):
    fixed_code = Errc.NOT_INITIALIZED


class VersionMismatch(CodedError):
    fixed_code = Errc.VERSION_MISMATCH


class CapabilityMissing(CodedError):
    fixed_code = Errc.CAPABILITY_MISSING


class UnknownMethod(CodedError):
    fixed_code = Errc.UNKNOWN_METHOD


class OptionUnsupported(CodedError):
    fixed_code = Errc.OPTION_UNSUPPORTED

    def __init__(self, message: str, *, option: str) -> None:
        super().__init__(message, {"option": option})


class Cancelled(CodedError):
    fixed_code = Errc.CANCELLED


class Timeout(CodedError):
    fixed_code = Errc.TIMEOUT


class InternalError(CodedError):
    fixed_code = Errc.INTERNAL_ERROR


class BackendUnavailable(CodedError):
    fixed_code = Errc.BACKEND_UNAVAILABLE

    def __init__(self, message: str, *, retry_after_ms: int | None = None) -> None:
        super().__init__(message, {"retryable": True, "retryAfterMs": retry_after_ms})


class ConnectionLost(CodedError):
    fixed_code = Errc.BACKEND_UNAVAILABLE


class RateLimited(CodedError):
    fixed_code = Errc.RATE_LIMITED

    def __init__(self, message: str, *, retry_after_ms: int | None = None) -> None:
        super().__init__(message, {"retryable": True, "retryAfterMs": retry_after_ms})


class Unauthorized(CodedError):
    """`forbidden`: the caller is known and may not (HTTP 403 rather than 401)."""

    fixed_code = Errc.UNAUTHORIZED

    def __init__(self, message: str, *, forbidden: bool = False) -> None:
        super().__init__(message)
        self.forbidden = forbidden


class PayloadTooLarge(CodedError):
    fixed_code = Errc.PAYLOAD_TOO_LARGE


class NotFound(CodedError):
    fixed_code = Errc.NOT_FOUND


class Conflict(CodedError):
    fixed_code = Errc.CONFLICT


_BY_CODE: dict[int, type[CodedError]] = {
    kind.fixed_code: kind for kind in CodedError.__subclasses__() if kind is not ConnectionLost
}


def error_from_wire(wire: Any) -> RcpError:
    """The exception for a peer's `error` object, of the class that its code has."""
    if not isinstance(wire, Mapping) or type(wire.get("code")) is not int:
        return InternalError("The peer sent an error without a code.")
    message = wire.get("message")
    data = wire.get("data")
    kind = _BY_CODE.get(wire["code"], RcpError)
    error = kind.__new__(kind)
    RcpError.__init__(
        error,
        wire["code"],
        message if isinstance(message, str) else "",
        data if isinstance(data, Mapping) else None,
    )
    if isinstance(error, Unauthorized):
        error.forbidden = False
    return error


def error_of(exception: BaseException, *, where: str) -> RcpError:
    """What the wire may say of an exception; anything but an RcpError is logged and hidden."""
    if isinstance(exception, RcpError):
        return exception
    logger.error("unexpected error in %s", where, exc_info=exception)
    return InternalError("Internal error")
