"""Errors outside of DRF's views: the envelope under the API's paths, a plain page elsewhere.

Below: api_errors. Above: urls (handler400 to handler500, the API's catch-all) and settings
(CSRF_FAILURE_VIEW).
"""

from __future__ import annotations

import sys

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_noop as _
from django.views.decorators.csrf import csrf_exempt

from fastrag_site.api_errors import headers, json_response, to_refusal
from fastrag_site.errors import (
    CsrfFailed,
    InternalError,
    NotFound,
    PermissionDenied,
    RequestRefused,
    ValidationFailed,
)

MACHINE_PATHS = ("/api", "/rcp", "/healthz", "/readyz", "/metrics")


def is_machine_path(path: str) -> bool:
    return any(path == root or path.startswith(f"{root}/") for root in MACHINE_PATHS)


def refuse(request: HttpRequest, refusal: RequestRefused) -> HttpResponse:
    if is_machine_path(request.path_info):
        return json_response(refusal)
    return render(
        request,
        "error.html",
        {"refusal": refusal},
        status=refusal.status,
    )


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    refusal = to_refusal(exception)
    if isinstance(refusal, ValidationFailed):
        refusal = ValidationFailed(_("The request is not valid."), fields=refusal.fields)
    return refuse(request, refusal)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    return refuse(request, PermissionDenied())


def page_not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return refuse(request, NotFound())


def server_error(request: HttpRequest) -> HttpResponse:
    """Django calls it while it handles the exception, and has logged that already."""
    error = sys.exc_info()[1]
    refusal = InternalError() if error is None else to_refusal(error)
    response = refuse(request, refusal)
    for name, value in headers(refusal).items():
        response[name] = value
    return response


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    return refuse(request, CsrfFailed())


# Without it DEBUG would answer an unknown API address with its own page, and a POST with 403.
api_not_found = csrf_exempt(page_not_found)
