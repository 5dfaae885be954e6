"""What a streaming handler yields, and its form as a `notifications/progress` frame.

Below: messages. Above: calls (server), client.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from retrieval.rcp.messages import PROGRESS, notification

ProgressToken: TypeAlias = str | int


@dataclass(frozen=True, slots=True)
class Progress:
    """One step of a request: `progress` in 0.0–1.0, the stage's name, and early results.

    `partial` is an object; a bare list of hits or of ids is sent as `{"hits": [...]}`, its members
    as given. Frames are advisory: the result never depends on them.
    """

    progress: float
    stage: str = ""
    message: str | None = None
    partial: Mapping[str, Any] | Sequence[Any] | None = None

    @property
    def hits(self) -> list[Any]:
        """The first hits so far, whichever way `partial` carries them."""
        held = self.partial.get("hits") if isinstance(self.partial, Mapping) else self.partial
        return list(held) if isinstance(held, Sequence) and not isinstance(held, str) else []

    def to_frame(self, token: ProgressToken, *, at_least: float = 0.0) -> bytes:
        """Encode for a request's token; progress is held within [at_least, 1]."""
        params: dict[str, Any] = {
            "progressToken": token,
            "progress": self.at_least(at_least),
            "stage": self.stage,
        }
        if self.message is not None:
            params["message"] = self.message
        if self.partial is not None:
            held = self.partial
            params["partial"] = held if isinstance(held, Mapping) else {"hits": list(held)}
        return notification(PROGRESS, params)

    def at_least(self, floor: float) -> float:
        value = float(self.progress)
        return value if floor <= value <= 1.0 else 1.0 if value > 1.0 else floor
