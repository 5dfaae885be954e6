"""What the OpenAPI document says of routes that are no views of the API: health, and itself.

Below: nothing. Above: schema, whose hook adds them.
"""

from __future__ import annotations

from typing import Any

_WORDS: dict[str, Any] = {"type": "string"}
_STATE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "status": {"type": "string", "enum": ["ok", "not ready"]},
        "checks": {
            "type": "object",
            "description": "`ok` by part, or what is wrong with it.",
            "additionalProperties": _WORDS,
        },
    },
    "required": ["status"],
}


def _response(description: str, media_type: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"description": description, "content": {media_type: {"schema": schema}}}


def _get(name: str, summary: str, responses: dict[str, Any], **more: Any) -> dict[str, Any]:
    operation = {"operationId": name, "summary": summary, "tags": [name], "security": [{}]}
    return {"get": {**operation, "responses": responses, **more}}


def routes(unauthenticated: dict[str, Any]) -> dict[str, Any]:
    """Path items; `unauthenticated` is the response of a refusal."""
    json = "application/json"
    return {
        "/healthz": _get(
            "healthz", "Is the process alive", {"200": _response("It is.", json, _STATE)}
        ),
        "/readyz": _get(
            "readyz",
            "Are its parts reachable",
            {
                "200": _response("All are.", json, _STATE),
                "503": _response("One is not; `checks` says which.", json, _STATE),
            },
        ),
        "/metrics": _get(
            "metrics",
            "Metrics as Prometheus text",
            {
                "200": _response("The metrics.", "text/plain", _WORDS),
                "401": unauthenticated,
            },
            description="With METRICS_TOKEN set, send it: `Authorization: Bearer …`.",
        ),
        "/api/schema": _get(
            "schema",
            "This document",
            {"200": _response("It.", "application/vnd.oai.openapi+json", {"type": "object"})},
        ),
        "/api/docs": _get(
            "docs", "This document as a page", {"200": _response("The page.", "text/html", _WORDS)}
        ),
    }
