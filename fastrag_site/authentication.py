"""How a request proves who it is: an API key, a signed-in session, or nothing.

Below: errors, conf, knox. Above: REST_FRAMEWORK in settings.

What protects a browser from a hostile page that posts in its name:
- An API key travels in a header that no page can make a browser add.
- A signed-in session needs Django's CSRF token on every unsafe method.
- An anonymous session needs none, so that `curl -d` works at once. Its cookie is SameSite=Lax, only
  application/json is parsed (a cross-origin page must ask CORS first), and an Origin header, which
  browsers send with every unsafe request, has to be ours or a trusted one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from django.conf import settings
from django.utils.http import is_same_domain
from django.utils.translation import gettext_noop as _
from knox.auth import TokenAuthentication
from rest_framework import exceptions
from rest_framework.authentication import SessionAuthentication
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from fastrag_site.conf import conf
from fastrag_site.errors import CsrfFailed

if TYPE_CHECKING:  # that module imports this one
    from rest_framework.views import APIView


class ApiKeyAuthentication(TokenAuthentication):  # type: ignore[misc]
    """`Authorization: Bearer <key>`. A wrong key is refused, never taken for no key."""

    def authenticate_credentials(self, token: bytes) -> object:
        if not token.isascii() or b"\0" in token:
            raise exceptions.AuthenticationFailed()
        return super().authenticate_credentials(token)


class BrowserAuthentication(SessionAuthentication):
    def authenticate(self, request: Request) -> object:  # type: ignore[override]
        found = super().authenticate(request)
        if found is None:
            self._check_origin(request)
        return found

    def enforce_csrf(self, request: Request) -> None:
        try:
            super().enforce_csrf(request)
        except exceptions.PermissionDenied as error:
            raise CsrfFailed() from error

    @staticmethod
    def _check_origin(request: Request) -> None:
        origin = request.META.get("HTTP_ORIGIN")
        has_session = settings.SESSION_COOKIE_NAME in request.COOKIES
        if origin is None or request.method in SAFE_METHODS or not has_session:
            return
        if not is_trusted(origin, host=request.get_host()):
            raise CsrfFailed(_("This page may not act for you here."))


class MayAsk(BasePermission):
    """Signed in, by key or session; or anyone while ALLOW_ANONYMOUS."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        return conf().allow_anonymous or bool(request.user.is_authenticated)


def is_trusted(origin: str, *, host: str) -> bool:
    """Whether an Origin header names this host, or an origin that the operator listed."""
    netloc = urlsplit(origin).netloc.lower()
    if netloc and netloc == host.lower():
        return True
    scheme = urlsplit(origin).scheme
    for trusted in (*settings.CSRF_TRUSTED_ORIGINS, *settings.CORS_ALLOWED_ORIGINS):
        allowed = urlsplit(trusted)
        if scheme == allowed.scheme and is_same_domain(netloc, allowed.netloc.lstrip("*")):
            return True
    return False
