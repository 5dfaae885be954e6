"""The page in a frame on other sites: the script that puts it there, and its compact pages.

Below: looks, pages' limits, visitors. Above: page_urls. Only the sites in WIDGET_ORIGINS may show
the frame; every other page of the site can be shown in none.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache, wraps
from pathlib import Path

from csp.decorators import csp_replace
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext, override
from django.views.decorators.cache import cache_control, never_cache
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.http import conditional_page, require_safe

from chats import selectors
from chats.looks import look_from, stylesheet
from chats.pages import limits
from fastrag_site.conf import conf
from fastrag_site.errors import RequestRefused
from fastrag_site.owners import owner_of
from fastrag_site.visitors import new_token

SOURCE = Path(__file__).parent / "static" / "chats" / "widget.js"
SCRIPT_SECONDS = 3_600
THEME_SECONDS = 86_400

_View = Callable[..., HttpResponse]


def _framed(view: _View) -> _View:
    """For frames on the sites that the operator listed, and in no other."""

    @require_safe
    @never_cache
    @xframe_options_exempt
    @wraps(view)
    def guarded(request: HttpRequest, **parts: str) -> HttpResponse:
        response: HttpResponse = csp_replace({"frame-ancestors": _origins()})(answered)(
            request, **parts
        )
        return response

    def answered(request: HttpRequest, **parts: str) -> HttpResponse:
        try:
            owner_of(request)
            return view(request, **parts)
        except RequestRefused as refusal:
            context = {"refusal": refusal, "embedded": True}
            return render(request, "error.html", context, status=refusal.status)

    return guarded


@_framed
def start(request: HttpRequest) -> HttpResponse:
    return _page(request)


@_framed
def chat(request: HttpRequest, chat_id: str) -> HttpResponse:
    """Without its messages: only the page's scripts know whose they are."""
    return _page(request, chat_id=selectors.chat_id_from(chat_id))


@require_safe
@conditional_page
@cache_control(public=True, max_age=SCRIPT_SECONDS)
def script(request: HttpRequest) -> HttpResponse:
    _origins()
    return HttpResponse(_script(), content_type="text/javascript; charset=utf-8")


@require_safe
@cache_control(public=True, max_age=THEME_SECONDS)
def theme(request: HttpRequest, accent: str) -> HttpResponse:
    if look_from({"accent": accent}).accent != accent:
        raise Http404
    return HttpResponse(stylesheet(accent), content_type="text/css; charset=utf-8")


def _origins() -> list[str]:
    """Raises Http404 where no site may show the widget."""
    if not (origins := list(conf().widget_origins)):
        raise Http404
    return origins


def _page(request: HttpRequest, **more: object) -> HttpResponse:
    context = limits() | {
        "look": look_from(request.GET.dict()),
        "base": reverse("widget-start").rstrip("/"),
        "query": f"?{request.GET.urlencode()}" if request.GET else "",
        "visitor": new_token(),
        "days": conf().anonymous_days,
    }
    return render(request, "chats/page.html", context | more)


@lru_cache(maxsize=1)
def _script() -> str:
    """The script is a function of the words on its button, in each language."""
    titles = {}
    for code, _ in settings.LANGUAGES:
        with override(code):
            titles[code] = gettext("Ask")
    return f"(function (titles) {{\n{SOURCE.read_text()}}})({json.dumps(titles)});\n"
