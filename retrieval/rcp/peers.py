"""The other end of a transport: who asks, in which session, and how it is reached meanwhile.

Below: session. Above: calls, dispatcher, transports, and sites that tell their callers apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from retrieval.rcp.session import Session

if TYPE_CHECKING:
    from retrieval.rcp.calls import Call


class Outlet(Protocol):
    """Where a call's notifications go while it runs."""

    def frame(self, text: bytes, call: Call, *, wait: bool) -> bool:
        """Send one frame unless the call is settled. False: full, and `wait` was not given."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who sent a message. `scope` separates the request ids of one caller from another's.

    None: this caller cannot be told from others, so nothing of its can be cancelled by id.
    `identity` is the embedding site's own: its user, key or rights.
    """

    scope: str | None = ""
    identity: Any = None


LOCAL = Caller()


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """The other end of one transport, or of one HTTP request."""

    session: Session
    caller: Caller = LOCAL
    outlet: Outlet | None = None  # None: progress is drained unseen
    log_outlet: Outlet | None = None
