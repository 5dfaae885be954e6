"""Anonymous visitors of a frame on another site, where browsers send no cookies of ours.

Below: conf, errors. Above: owners. The frame's page gets a fresh token, its scripts keep the first
one in the frame's own storage and send it along. No page of another origin can add the header.
"""

from __future__ import annotations

import secrets
from datetime import timedelta

from django.core import signing
from django.http import HttpRequest
from rest_framework.request import Request

from fastrag_site.conf import conf
from fastrag_site.errors import NotAuthenticated

HEADER = "X-Visitor"
_SALT = "visitor of a frame"


def new_token() -> str:
    """Names nobody yet: nothing is stored until its bearer asks something."""
    return signing.dumps(secrets.token_urlsafe(24), salt=_SALT)


def visitor_of(request: HttpRequest | Request) -> str | None:
    """Who the header names. Raises NotAuthenticated for a token that is not ours, or too old."""
    token = request.headers.get(HEADER)
    if token is None or not conf().widget_origins:
        return None
    try:
        name: str = signing.loads(token, salt=_SALT, max_age=timedelta(days=conf().anonymous_days))
    except signing.BadSignature:
        raise NotAuthenticated from None
    return name
