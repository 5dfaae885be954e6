"""How many answers this process writes at once.

Below: conf. Above: answering.
"""

from __future__ import annotations

import threading
import weakref

from fastrag_site.conf import conf
from fastrag_site.errors import ServiceUnavailable

_lock = threading.Lock()
_taken: weakref.WeakSet[Slot] = weakref.WeakSet()


class Slot:
    """The right to write one answer, until it is released or dropped, from any thread."""

    def release(self) -> None:
        with _lock:
            _taken.discard(self)


def take_slot() -> Slot:
    """Raises ServiceUnavailable when this process writes as many answers as it may."""
    slot = Slot()
    with _lock:
        if len(_taken) >= conf().generations_per_worker:
            raise ServiceUnavailable(retry_after=5)
        _taken.add(slot)
    return slot


def slots_taken() -> int:
    with _lock:
        return len(_taken)
