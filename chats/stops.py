"""Stopping an answer that is being written here, whoever asked for it and in whichever process.

Below: models. Above: writing waits for it, services ask for it. A process with running answers
looks at their journal rows a few times a second, in one query for all and on a connection that it
does not keep; what was asked of this very process is told at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections.abc import Callable, Collection, Iterator
from uuid import UUID

from django.db import connections

from chats.models import Generation
from fastrag_site.conf import conf

_Listener = tuple[asyncio.AbstractEventLoop, Callable[[], object]]

_changed = threading.Condition()
_listeners: dict[UUID, _Listener] = {}
_poller: threading.Thread | None = None

logger = logging.getLogger(__name__)


@contextlib.contextmanager
def told(message_id: UUID, callback: Callable[[], object]) -> Iterator[None]:
    """Within: `callback` runs once, in this event loop, when the answer is no longer wanted."""
    with _changed:
        _listeners[message_id] = (asyncio.get_running_loop(), callback)
        _changed.notify_all()
        _start_poller()
    try:
        yield
    finally:
        _take(message_id)


def stop_here(message_id: UUID) -> bool:
    """Whether this process is writing that answer; then it is told."""
    listener = _take(message_id)
    if listener is None:
        return False
    loop, callback = listener
    with contextlib.suppress(RuntimeError):  # that loop has closed
        loop.call_soon_threadsafe(callback)
    return True


def unwanted(message_ids: Collection[UUID]) -> set[UUID]:
    """Those that somebody asked to stop, or whose journal row is gone with its chat."""
    rows = Generation.objects.filter(pk__in=message_ids, stop_requested=False)
    return set(message_ids) - set(rows.values_list("pk", flat=True))


def _take(message_id: UUID) -> _Listener | None:
    with _changed:
        listener = _listeners.pop(message_id, None)
        _changed.notify_all()
        return listener


def _start_poller() -> None:
    global _poller
    if _poller is None or not _poller.is_alive():  # not in a process that was forked off either
        _poller = threading.Thread(target=_poll, name="stops", daemon=True)
        _poller.start()


def _poll() -> None:
    while True:
        message_ids = _due()
        try:
            for message_id in unwanted(message_ids):
                stop_here(message_id)
        except Exception:
            logger.warning("requests to stop were not looked for", exc_info=True)
        finally:
            connections.close_all()


def _due() -> tuple[UUID, ...]:
    """The answers that run, after the pause between two looks; waits while there are none."""
    with _changed:
        while True:
            _changed.wait_for(lambda: _listeners)
            if not _changed.wait_for(lambda: not _listeners, conf().stop_poll_seconds):
                return tuple(_listeners)
