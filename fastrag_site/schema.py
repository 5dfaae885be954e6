"""OpenAPI: every route of ours, the error envelope, and how a request authenticates.

Below: schema_errors, schema_routes, drf_spectacular. Above: SPECTACULAR_SETTINGS (the hooks), urls
(the views). schema_headers and chats.schema have hooks of their own.
"""

from __future__ import annotations

from typing import Any

from csp.constants import SELF, UNSAFE_INLINE
from csp.decorators import csp_update
from django.utils.decorators import method_decorator
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.views import SpectacularJSONAPIView, SpectacularSwaggerSplitView

from fastrag_site import schema_errors
from fastrag_site.schema_routes import routes

_METHODS = frozenset({"get", "post", "put", "patch", "delete"})


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
    paths = {**result["paths"], **routes(schema_errors.response("NOT_AUTHENTICATED"))}
    result["paths"] = dict(sorted(paths.items()))
    return result


def add_errors(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Postprocessing hook: the refusals of every operation that does not declare its own.

    RCP answers in its own words.
    """
    components = result.setdefault("components", {})
    components.setdefault("schemas", {}).update(schema_errors.schemas())
    shared: dict[str, Any] = components.setdefault("responses", {})
    for path, operations in result.get("paths", {}).items():
        for method, operation in operations.items():
            _describe(operation)
            if path.startswith("/api/") and method in _METHODS:
                for status, codes in schema_errors.statuses(path, method, operation):
                    name = schema_errors.component_of(*codes)
                    shared[name] = {"x-status": str(status), **schema_errors.response(*codes)}
                    reference = schema_errors.reference(name, "responses")
                    operation["responses"].setdefault(str(status), reference)
                operation["responses"] = dict(sorted(operation["responses"].items()))
    components["responses"] = dict(sorted(shared.items()))
    return result


def _describe(operation: dict[str, Any]) -> None:
    operation["security"] = [*operation.get("security", []), {}]  # while ALLOW_ANONYMOUS
    for response in operation["responses"].values():
        response["description"] = response["description"] or operation["summary"] + "."
