"""How many requests a caller may make: a sliding minute, counted in Django's cache.

Below: conf. Above: REST_FRAMEWORK in settings. The default cache is shared by the workers of one
machine; with CACHE_URL those of several count together. While it is out of order nobody is refused.
"""

from __future__ import annotations

import contextlib
import logging
import time
from typing import TYPE_CHECKING

from django.core.cache import cache
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from fastrag_site.conf import conf

if TYPE_CHECKING:  # that module imports this one
    from rest_framework.views import APIView

WINDOW = 60

logger = logging.getLogger(__name__)


class CallerThrottle(BaseThrottle):
    """By user, or by address: an anonymous caller could take a new session for each request."""

    clock = staticmethod(time.time)
    _wait = 0.0

    def allow_request(self, request: Request, view: APIView) -> bool:
        try:
            return self._is_within(request)
        except Exception:
            logger.warning("requests are not counted", exc_info=True)
            return True

    def _is_within(self, request: Request) -> bool:
        limit = conf().requests_per_minute
        now = self.clock()
        window, into = divmod(now, WINDOW)
        key = f"requests:{caller_of(request)}:{window:.0f}"
        before = cache.get(f"requests:{caller_of(request)}:{window - 1:.0f}", 0)
        cache.add(key, 0, timeout=2 * WINDOW)
        try:
            current = cache.incr(key)
        except ValueError:  # evicted in between
            current = 1
        # As much of the window before counts as still lies within the last minute.
        if before * (1 - into / WINDOW) + current <= limit:
            return True
        with contextlib.suppress(ValueError):
            cache.decr(key)  # only what was answered counts
        self._wait = _until_allowed(before, current, limit, into)
        return False

    def wait(self) -> float:
        return self._wait


def caller_of(request: Request) -> str:
    if request.user.is_authenticated:
        return f"user:{request.user.pk}"
    return f"address:{request.META.get('REMOTE_ADDR', '')}"


def _until_allowed(before: int, current: int, limit: int, into: float) -> float:
    """Seconds until this request, the `current`th of its window, fits."""
    if before and current <= limit:
        return WINDOW * (1 - (limit - current) / before) - into
    # The window is full by itself: it has to become the one before, and to age.
    return WINDOW - into + WINDOW * (1 - (limit - 1) / max(current - 1, 1))
