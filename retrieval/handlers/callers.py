"""Who calls a method, and whether they may. Above: server (guards), rcp_views (callers).

Below: retrieval.rcp. Credentials travel in headers, so a caller without an identity is the local
one of stdio, who may do what the process may.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from retrieval import rcp

LOCAL_OWNER = "local"
WRITES = frozenset({"index/add", "index/delete"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Visitor:
    """A caller over HTTP who may read."""

    owner: str  # tells apart what callers leave behind: "user:3", "anonymous:3f…"
    is_known: bool = False  # by a key or a signed-in session
    may_write: bool = False
    charge: Callable[[], float] = lambda: 0.0  # for one request more; seconds to wait for it


def owner_of(caller: rcp.Caller) -> str:
    visitor = caller.identity
    return visitor.owner if isinstance(visitor, Visitor) else LOCAL_OWNER


def limit_rate(caller: rcp.Caller, method: str) -> None:
    """A guard of the server. Raises RateLimited, also for a single member of a batch."""
    visitor = caller.identity
    if isinstance(visitor, Visitor) and (wait := visitor.charge()) > 0.0:
        raise rcp.RateLimited("too many requests", retry_after_ms=math.ceil(wait * 1_000))


def refuse_writing(caller: rcp.Caller, method: str) -> None:
    """A guard of the server. Raises Unauthorized."""
    visitor = caller.identity
    if method in WRITES and isinstance(visitor, Visitor) and not visitor.may_write:
        raise rcp.Unauthorized(
            "Writing needs an API key with that right: manage.py apikey create --write.",
            forbidden=visitor.is_known,
        )
