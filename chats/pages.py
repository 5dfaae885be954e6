"""The page where people ask: `/`, `/chats/<id>`, and the parts of it that the page asks for again.

Below: presenting, selectors, services. Above: page_urls. Reads alone; whatever the page does goes
through the API, as any other client's requests do.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from pathlib import Path
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import get_language
from django.views.decorators.cache import cache_control, never_cache
from django.views.decorators.http import conditional_page, require_safe
from django.views.i18n import JavaScriptCatalog

from chats import presenting, selectors, services
from chats.models import Chat
from fastrag_site.conf import conf
from fastrag_site.error_views import refuse
from fastrag_site.errors import ChatNotFound, NotAuthenticated, RequestRefused
from fastrag_site.language import asked_for
from fastrag_site.owners import Owner, owner_of

LANGUAGE_SECONDS = 31_536_000  # that a chosen language is remembered

# The words of the page's modules, in the language of the page.
catalog = conditional_page(JavaScriptCatalog.as_view(packages=["chats"]))

WORKER = Path(__file__).parent / "static" / "chats" / "worker.js"

_View = Callable[..., HttpResponse]


def _guarded(view: _View, *, signs_in: bool) -> Callable[..., HttpResponseBase]:
    """Refusals become pages in words; where it `signs_in`, who has to is sent there."""

    @require_safe
    @never_cache
    @wraps(view)
    def guarded(request: HttpRequest, **parts: str) -> HttpResponseBase:
        try:
            return view(request, owner_of(request), **parts)
        except RequestRefused as refusal:
            if signs_in and isinstance(refusal, NotAuthenticated):
                return redirect_to_login(request.get_full_path())
            return refuse(request, refusal)

    return guarded


_page_view = partial(_guarded, signs_in=True)
_part_view = partial(_guarded, signs_in=False)  # a page would take a form to sign in for its part


@_page_view
def start(request: HttpRequest, owner: Owner) -> HttpResponse:
    return _page(request, {})


@_page_view
def chat(request: HttpRequest, owner: Owner, chat_id: str) -> HttpResponse:
    return _page(request, _thread_context(owner, selectors.chat_id_from(chat_id)))


@_part_view
def thread(request: HttpRequest, owner: Owner, chat_id: str) -> HttpResponse:
    """All exchanges: for a page that follows what another tab does."""
    context = _thread_context(owner, selectors.chat_id_from(chat_id))
    return render(request, "chats/thread.html", context)


@_part_view
def answer(request: HttpRequest, owner: Owner, chat_id: str, message_id: str) -> HttpResponse:
    """One stored answer, rendered: takes the place of the text that was streamed."""
    found, message = selectors.chat_id_from(chat_id), selectors.message_id_from(message_id)
    stored = selectors.answer_get(owner=owner, chat_id=found, message_id=message)
    earlier = selectors.alternatives_of(stored.chat).get(stored.position, [])
    others = [one for one in earlier if one.id != message]
    context = {"answer": presenting.answer_shown(stored, others), "chat_id": found}
    return render(request, "chats/answer.html", context)


@_part_view
def passages(
    request: HttpRequest, owner: Owner, chat_id: str, message_id: str, number: int
) -> HttpResponse:
    """What a source of an answer says where it is cited, as far as the index still holds it."""
    found, message = selectors.chat_id_from(chat_id), selectors.message_id_from(message_id)
    cited = selectors.sources_of(owner=owner, chat_id=found, message_id=message)
    texts = (presenting.passages_shown(source) for source in cited if number in source["positions"])
    return JsonResponse({"passages": next(texts, [])})


@require_safe
@cache_control(no_cache=True)
def worker(request: HttpRequest) -> HttpResponse:
    """At the root of the site, since a service worker sees only what lies beside it."""
    return HttpResponse(WORKER.read_bytes(), content_type="text/javascript; charset=utf-8")


def _thread_context(owner: Owner, chat_id: UUID) -> dict[str, Any]:
    """Raises ChatNotFound."""
    services.sweep(owner=owner)
    running = selectors.running_in(owner=owner, chat_id=chat_id)
    stored = Chat.objects.filter(pk=chat_id, **owner.fields()).first()
    if running is None and stored is None:
        raise ChatNotFound
    return {
        "chat_id": chat_id,
        "title": stored.title if stored else "",
        "exchanges": presenting.exchanges_of(stored, running),
    }


def _page(request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
    if asked_for(request):
        return _remember_language(request)
    return render(request, "chats/page.html", limits() | context)


def limits() -> dict[str, Any]:
    return {"longest": conf().message_max_chars, "longest_title": conf().title_max_chars}


def _remember_language(request: HttpRequest) -> HttpResponse:
    response = redirect(request.path)
    response.set_cookie(
        settings.LANGUAGE_COOKIE_NAME,
        get_language(),
        max_age=LANGUAGE_SECONDS,
        secure=settings.HTTPS,
        samesite="Lax",
    )
    return response
