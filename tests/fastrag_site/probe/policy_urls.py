"""Views that do one thing each, under the site's own error handlers."""

from __future__ import annotations

from typing import Any, NoReturn

from django.core import exceptions as django
from django.db import OperationalError
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import path, re_path
from django.views.decorators.csrf import csrf_exempt
from rest_framework import exceptions as drf
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from fastrag_site import errors, urls
from fastrag_site.error_views import api_not_found
from fastrag_site.models import ApiKey
from fastrag_site.owners import owner_of
from fastrag_site.pagination import CursorPages

SECRET = "sk-secret at https://model.example/v1"

FAILURES: dict[str, Exception] = {
    "parse": drf.ParseError(SECRET),
    "not-authenticated": drf.NotAuthenticated(),
    "authentication-failed": drf.AuthenticationFailed(SECRET),
    "drf-denied": drf.PermissionDenied(),
    "django-denied": django.PermissionDenied(SECRET),
    "drf-not-found": drf.NotFound(),
    "http404": Http404(SECRET),
    "throttled": drf.Throttled(wait=12.1),
    "too-big": django.RequestDataTooBig(SECRET),
    "suspicious": django.SuspiciousOperation(SECRET),
    "django-invalid": django.ValidationError({"title": ["Too long."]}),
    "database": OperationalError(SECRET),
    "bug": RuntimeError(SECRET),
    "generation": errors.FastragError(SECRET),
    "busy": errors.ChatBusy(details={"message_id": "m1"}),
    "generations": errors.TooManyGenerations(retry_after=3),
    "chat": errors.ChatNotFound(),
}


class Raise(APIView):
    def get(self, request: Request, name: str) -> NoReturn:
        raise FAILURES[name]


class Inner(serializers.Serializer[Any]):
    start = serializers.CharField()


class Outer(serializers.Serializer[Any]):
    content = serializers.CharField(max_length=5)
    parts = Inner(many=True, required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs["content"] == "body":
            raise serializers.ValidationError("Not as a whole.")
        return attrs


class Echo(APIView):
    def post(self, request: Request) -> Response:
        return Response({"data": request.data, "owner": str(owner_of(request))})

    put = delete = post

    def get(self, request: Request) -> Response:
        return Response({"owner": str(owner_of(request))})


class Validate(APIView):
    def post(self, request: Request) -> Response:
        body = Outer(data=request.data)
        body.is_valid(raise_exception=True)
        return Response(body.validated_data)


class Keys(APIView):
    def get(self, request: Request) -> Response:
        pages = CursorPages()
        page: list[ApiKey] | None = pages.paginate_queryset(
            ApiKey.objects.all(), request, view=self
        )
        return pages.get_paginated_response([key.name for key in page or ()])


def page_raise(request: HttpRequest, name: str) -> NoReturn:
    raise FAILURES[name]


def form(request: HttpRequest) -> HttpResponse:
    return HttpResponse(request.body)


open_form = csrf_exempt(form)


urlpatterns = [
    path("api/raise/<str:name>", Raise.as_view()),
    path("api/plain/<str:name>", page_raise),
    path("api/echo", Echo.as_view()),
    path("api/validate", Validate.as_view()),
    path("api/keys", Keys.as_view()),
    path("api/form", form),
    path("api/open-form", open_form),
    path("raise/<str:name>", page_raise),
    path("form", form),
    re_path(r"^api(/.*)?$", api_not_found),
]
handler400, handler403 = urls.handler400, urls.handler403
handler404, handler500 = urls.handler404, urls.handler500
