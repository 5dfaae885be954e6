"""OpenAPI: every route of ours, the error envelope, and how a request authenticates.

Below: errors, schema_routes, drf_spectacular. Above: SPECTACULAR_SETTINGS (the hooks), urls (the
views).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from csp.constants import SELF, UNSAFE_INLINE
from csp.decorators import csp_update
from django.utils.decorators import method_decorator
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.views import SpectacularJSONAPIView, SpectacularSwaggerSplitView

from fastrag_site import errors
from fastrag_site.errors import RequestRefused
from fastrag_site.schema_routes import routes

ENVELOPE = "ErrorResponse"
_ENVELOPE_REFERENCE = {"$ref": f"#/components/schemas/{ENVELOPE}"}
_METHODS = frozenset({"get", "post", "put", "patch", "delete"})
_ALWAYS = (401, 403, 429, 500, 503)


class SchemaView(SpectacularJSONAPIView):  # type: ignore[misc]
    """The OpenAPI document."""


# Swagger sets style attributes while it draws.
@method_decorator(csp_update({"style-src": [SELF, UNSAFE_INLINE]}), name="dispatch")
class DocsView(SpectacularSwaggerSplitView):  # type: ignore[misc]
    """Swagger, with its scripts from the installed package: it works offline."""

    url_name = "schema"


class ApiKeyScheme(OpenApiAuthenticationExtension):  # type: ignore[misc]
    target_class = "fastrag_site.authentication.ApiKeyAuthentication"
    name = "apiKey"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "A key of `manage.py apikey`."}


class BrowserScheme(OpenApiAuthenticationExtension):  # type: ignore[misc]
    target_class = "fastrag_site.authentication.BrowserAuthentication"
    name = "session"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {
            "type": "apiKey",
            "in": "cookie",
            "name": "sessionid",
            "description": "A signed-in session sends X-CSRFToken with every unsafe method.",
        }


def only_machine_routes(endpoints: list[Any]) -> list[Any]:
    """Preprocessing hook: no pages of the admin."""
    return [endpoint for endpoint in endpoints if endpoint[0].startswith(("/api/", "/rcp"))]


def add_routes(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Postprocessing hook, after add_errors: the routes that no generator can see into."""
    paths = {**result["paths"], **routes(_ENVELOPE_REFERENCE)}
    result["paths"] = dict(sorted(paths.items()))
    return result


def add_errors(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Postprocessing hook: error responses for every operation that does not declare its own.

    RCP answers in its own words.
    """
    result.setdefault("components", {}).setdefault("schemas", {})[ENVELOPE] = _envelope()
    for path, operations in result.get("paths", {}).items():
        if not path.startswith("/api/"):
            continue
        for method, operation in operations.items():
            if method in _METHODS:
                for status in _statuses(path, operation):
                    operation["responses"].setdefault(str(status), _response(status))
                operation["responses"] = dict(sorted(operation["responses"].items()))
    return result


def _statuses(path: str, operation: dict[str, Any]) -> Iterator[int]:
    yield from _ALWAYS
    if "requestBody" in operation:
        yield from (400, 413, 415)
    elif operation.get("parameters"):
        yield 400
    if "{" in path:
        yield 404


def _response(status: int) -> dict[str, Any]:
    codes = [refusal.code for refusal in _refusals() if refusal.status == status]
    response: dict[str, Any] = {
        "description": " or ".join(f"`{code}`" for code in codes),
        "content": {"application/json": {"schema": _ENVELOPE_REFERENCE}},
    }
    if status in (429, 503):
        response["headers"] = {
            "Retry-After": {
                "description": "Seconds to wait before the next try.",
                "schema": {"type": "integer"},
            }
        }
    return response


def _envelope() -> dict[str, Any]:
    return {
        "type": "object",
        "description": "Why a request was refused.",
        "properties": {
            "error": {
                "type": "object",
                "properties": {
                    "code": {"type": "string", "enum": [refusal.code for refusal in _refusals()]},
                    "message": {"type": "string"},
                    "fields": {
                        "type": "object",
                        "description": "With VALIDATION_ERROR: what is wrong, by field.",
                        "additionalProperties": {"type": "array", "items": {"type": "string"}},
                    },
                    "details": {"type": "object", "additionalProperties": {"type": "string"}},
                },
                "required": ["code", "message"],
            }
        },
        "required": ["error"],
    }


def _refusals() -> list[type[RequestRefused]]:
    """Every class that has a code of its own, by code."""
    found: dict[str, type[RequestRefused]] = {}

    def visit(kind: type[RequestRefused]) -> None:
        for child in kind.__subclasses__():
            if "code" in vars(child):
                found.setdefault(child.code, child)
            visit(child)

    visit(errors.RequestRefused)
    return [found[code] for code in sorted(found)]
