"""UUID version 7 (RFC 9562): ids that sort by the time they were made. A leaf."""

from __future__ import annotations

import secrets
import threading
import time
from uuid import UUID

_TIME_BITS, _STEP_BITS, _RANDOM_BITS = 48, 12, 62
_VERSION, _VARIANT = 7, 0b10

_lock = threading.Lock()
_last = 0


def uuid7() -> UUID:
    """A new id, greater than every one this process made before."""
    stamp = _next_stamp()
    return UUID(
        int=(stamp >> _STEP_BITS) << 80
        | _VERSION << 76
        | (stamp & ((1 << _STEP_BITS) - 1)) << 64
        | _VARIANT << _RANDOM_BITS
        | secrets.randbits(_RANDOM_BITS)
    )


def _next_stamp() -> int:
    """Milliseconds in the high 48 bits, their 4096ths in the low 12; strictly rising."""
    global _last
    milliseconds, rest = divmod(time.time_ns(), 1_000_000)
    stamp = milliseconds % (1 << _TIME_BITS) << _STEP_BITS | (rest << _STEP_BITS) // 1_000_000
    with _lock:
        _last = max(stamp, _last + 1)
        return _last
