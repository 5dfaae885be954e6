"""Methods and their handlers. Below: capabilities, params. Above: calls, dispatcher, server."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeAlias

from retrieval.rcp.capabilities import LIFECYCLE, METHODS, is_vendor_method
from retrieval.rcp.params.methods import CHECKS, CheckParams

Handler: TypeAlias = Callable[[dict[str, Any]], Any]


class Route:
    """One method's handler and what the dispatcher must know of it."""

    __slots__ = ("capability", "check", "handler", "is_async", "method", "quick")

    def __init__(self, method: str, handler: Handler) -> None:
        if method not in METHODS and not is_vendor_method(method):
            kind = "answered by the server itself" if method in LIFECYCLE else "not a method"
            raise ValueError(f"{method!r} is {kind}")
        self.method = method
        self.handler = handler
        capability = METHODS.get(method)
        self.capability: str | None = None if capability is None else capability.value
        self.check: CheckParams | None = CHECKS.get(method)
        target = handler if inspect.isroutine(handler) else getattr(handler, "func", handler)
        target = target if inspect.isroutine(target) else getattr(target, "__call__", target)  # noqa: B004
        self.is_async = inspect.iscoroutinefunction(target) or inspect.isasyncgenfunction(target)
        self.quick = True  # its last run took no time worth a hand-over; see transports.stdio
