"""The one mapping from exceptions to the API's error envelope: {"error": {code, message, fields?}}.

Below: errors. Above: REST_FRAMEWORK in settings (DRF views), error_views (everything else). Unknown
exceptions are logged once and shown as INTERNAL_ERROR.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator, Mapping
from typing import Any

from django.core import exceptions as django
from django.db import InterfaceError, OperationalError
from django.http import Http404, JsonResponse, UnreadablePostError
from rest_framework import exceptions as drf
from rest_framework.response import Response
from rest_framework.views import set_rollback

from fastrag_site import errors
from fastrag_site.errors import RequestRefused

DATABASE_RETRY_SECONDS = 5

logger = logging.getLogger(__name__)

_Kinds = type[Exception] | tuple[type[Exception], ...]
_SAME_MEANING: tuple[tuple[_Kinds, type[RequestRefused]], ...] = (
    ((drf.ParseError, UnreadablePostError), errors.MalformedJson),
    ((drf.NotAuthenticated, drf.AuthenticationFailed), errors.NotAuthenticated),
    ((drf.PermissionDenied, django.PermissionDenied), errors.PermissionDenied),
    ((drf.NotFound, Http404), errors.NotFound),
    (drf.MethodNotAllowed, errors.MethodNotAllowed),
    (drf.UnsupportedMediaType, errors.UnsupportedMediaType),
    ((django.RequestDataTooBig, django.TooManyFieldsSent), errors.PayloadTooLarge),
)


def exception_handler(error: Exception, context: Mapping[str, Any]) -> Response:
    """DRF's EXCEPTION_HANDLER."""
    set_rollback()
    refusal = to_refusal(error)
    if refusal.status >= 500 and refusal is not error:
        logger.error("%s answered for %s", refusal.code, type(error).__name__, exc_info=error)
    response = Response(envelope(refusal), status=refusal.status, headers=headers(refusal))
    if refusal.status >= 500:
        response._has_been_logged = True  # type: ignore[attr-defined]  # not by Django again
    return response


def json_response(refusal: RequestRefused) -> JsonResponse:
    """The same answer outside of DRF."""
    return JsonResponse(envelope(refusal), status=refusal.status, headers=headers(refusal))


def to_refusal(error: BaseException) -> RequestRefused:
    """What an exception means to a client."""
    if isinstance(error, RequestRefused):
        return error
    if isinstance(error, drf.ValidationError):
        return errors.ValidationFailed(fields=dict(_drf_fields(error.detail)))
    if isinstance(error, django.ValidationError):
        return errors.ValidationFailed(fields=_django_fields(error))
    if isinstance(error, drf.Throttled):
        return errors.RateLimited(retry_after=math.ceil(getattr(error, "wait", None) or 1))
    for kinds, meaning in _SAME_MEANING:
        if isinstance(error, kinds):
            return meaning()
    if isinstance(error, django.DisallowedHost):
        return errors.ValidationFailed(fields={"host": ["The site is not served under that name."]})
    if isinstance(error, django.SuspiciousOperation):
        return errors.ValidationFailed(fields={"request": ["It cannot be accepted as it is."]})
    if isinstance(error, OperationalError | InterfaceError):
        return errors.ServiceUnavailable(retry_after=DATABASE_RETRY_SECONDS)
    return errors.InternalError()


def envelope(refusal: RequestRefused) -> dict[str, Any]:
    error: dict[str, Any] = {"code": refusal.code, "message": refusal.message}
    if refusal.fields:
        error["fields"] = {name: list(problems) for name, problems in refusal.fields.items()}
    if refusal.details:
        error["details"] = dict(refusal.details)
    return {"error": error}


def headers(refusal: RequestRefused) -> dict[str, str]:
    found: dict[str, str] = {}
    if refusal.retry_after is not None:
        found["Retry-After"] = str(max(1, refusal.retry_after))
    if refusal.status == 401:
        found["WWW-Authenticate"] = "Bearer"
    return found


def _drf_fields(detail: Any, name: str = "") -> Iterator[tuple[str, list[str]]]:
    """Nested details as dotted names; problems of the body as a whole under `body`."""
    if isinstance(detail, Mapping):
        for key, inner in detail.items():
            if key == "non_field_errors":
                yield from _drf_fields(inner, name)
            else:
                yield from _drf_fields(inner, f"{name}.{key}" if name else str(key))
    elif isinstance(detail, list) and any(isinstance(item, Mapping | list) for item in detail):
        for position, inner in enumerate(detail):
            yield from _drf_fields(inner, f"{name}.{position}" if name else str(position))
    elif detail:
        problems = detail if isinstance(detail, list) else [detail]
        yield name or "body", [str(problem) for problem in problems]


def _django_fields(error: django.ValidationError) -> dict[str, list[str]]:
    if hasattr(error, "error_dict"):
        return {("body" if k == "__all__" else k): v for k, v in error.message_dict.items()}
    return {"body": error.messages}
