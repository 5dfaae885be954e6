"""The state of one peer's connection: uninitialized, initialized, shut down.

Below: nothing. Above: dispatcher; each transport holds one, or one a request when stateless.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True, kw_only=True)
class Session:
    initialized: bool = False
    closed: bool = False
    stateless: bool = False  # counts as initialized; neither `initialize` nor `shutdown` changes it
    unique_ids: bool = True  # one peer: an id in flight may not be used again
    public_id: str | None = None  # handed out by `initialize` to scope ids over HTTP
    client: Mapping[str, Any] = field(default_factory=dict)
    wants_log: bool = False
