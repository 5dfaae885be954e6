"""Which language a page speaks: `?lang=`, else the reader's cookie, else what the browser prefers.

Below: error_views. Above: MIDDLEWARE in settings. What machines read stays in English, and so do
the documentation and the admin, whose own words exist in no other language.
"""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import translation
from django.utils.cache import patch_vary_headers
from django.utils.deprecation import MiddlewareMixin

from fastrag_site.error_views import MACHINE_PATHS

ENGLISH_PATHS = (*MACHINE_PATHS, "/admin", "/docs")


class Language(MiddlewareMixin):
    def process_request(self, request: HttpRequest) -> None:
        if _is_english(request):
            translation.activate(settings.LANGUAGE_CODE)
            return
        chosen = asked_for(request)
        translation.activate(chosen or translation.get_language_from_request(request))

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        if not _is_english(request):
            patch_vary_headers(response, ("Accept-Language",))
            response.headers.setdefault("Content-Language", translation.get_language() or "")
        return response


def asked_for(request: HttpRequest) -> str | None:
    """The language that the address itself names, where there is such a one."""
    asked = request.GET.get("lang", "")
    return asked if asked in dict(settings.LANGUAGES) else None


def _is_english(request: HttpRequest) -> bool:
    path = request.path_info
    return any(path == root or path.startswith(f"{root}/") for root in ENGLISH_PATHS)
