"""What a client needs of a transport. Above: stdio and http implement it, aio uses it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from retrieval.rcp.messages import RequestId

OnNotification = Callable[[dict[str, Any]], None]


class ClientTransport(Protocol):
    """Raises ConnectionLost wherever the server is not there, or not any more."""

    on_notification: OnNotification

    async def exchange(self, id_: RequestId, text: bytes, *, streams: bool) -> Any:
        """Send one request and wait for its response, decoded; without a time-out of its own."""
        ...

    async def notify(self, text: bytes) -> None: ...

    def use_session(self, session: str) -> None:
        """Scope the ids of this client, where the transport needs it."""
        ...

    async def close(self, *, at_once: bool = False) -> None:
        """Let go of the server; bounded in time, and safe to repeat. `at_once`: without grace."""
        ...
