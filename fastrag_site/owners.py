"""Who a chat belongs to: a user, or while anonymous access is on, a browser session.

Below: conf, errors, visitors. Above: views and services of chats, throttling.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.http import HttpRequest
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request

from fastrag_site.conf import conf
from fastrag_site.errors import NotAuthenticated
from fastrag_site.visitors import visitor_of

_SESSION_ITEM = "owner"


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """Exactly one of the two is set. `session_key` is no credential: it names the session's owner,
    and outlives the rotation of the session's own key. In a frame it names the visitor.
    """

    user_id: int | None = None
    session_key: str = ""

    def fields(self) -> dict[str, Any]:
        """For `filter(**…)` and `create(**…)` on models that have an owner."""
        return {"user_id": self.user_id, "session_key": self.session_key}

    def __str__(self) -> str:
        return f"session:{self.session_key}" if self.user_id is None else f"user:{self.user_id}"


NOBODY = Owner(session_key="nobody")  # owns nothing: an anonymous reader who never wrote


def owner_of(request: HttpRequest | Request) -> Owner:
    """The owner of a request. Raises NotAuthenticated where anonymous access is off.

    An anonymous session is created by the first request that writes, so that reads set no cookie.
    """
    if request.user.is_authenticated:
        return Owner(user_id=request.user.pk)
    if not conf().allow_anonymous:
        raise NotAuthenticated()
    if (visitor := visitor_of(request)) is not None:
        return Owner(session_key=visitor)
    session = request.session
    if _SESSION_ITEM not in session:
        if request.method in SAFE_METHODS:
            return NOBODY
        session[_SESSION_ITEM] = secrets.token_urlsafe(24)
        session.set_expiry(timedelta(days=conf().anonymous_days))
    return Owner(session_key=session[_SESSION_ITEM])
