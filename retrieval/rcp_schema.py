"""What the OpenAPI document says of `POST /rcp`: JSON-RPC goes in and comes out.

Below: drf_spectacular. Above: rcp_views, and SPECTACULAR_SETTINGS (the hook). docs/rcp.md tells of
the methods.
"""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema

from fastrag_site.schema_errors import reference

_ID = {"oneOf": [{"type": "string"}, {"type": "number"}]}
_TOKEN = {"oneOf": [{"type": "string"}, {"type": "integer"}]}
_VERSION = {"type": "string", "enum": ["2.0"]}


def _one_or_batch(message: dict[str, Any]) -> dict[str, Any]:
    return {"oneOf": [message, {"type": "array", "items": message, "minItems": 1}]}


_REQUEST = {
    "type": "object",
    "properties": {
        "jsonrpc": _VERSION,
        "id": {**_ID, "description": "Absent in a notification."},
        "method": {"type": "string", "example": "retrieve"},
        "params": {"type": "object", "additionalProperties": True},
    },
    "required": ["jsonrpc", "method"],
}
_ERROR = {
    "type": "object",
    "properties": {
        "code": {"type": "integer"},
        "message": {"type": "string"},
        "data": {"type": "object", "additionalProperties": True},
    },
    "required": ["code", "message"],
}
_RESPONSE = {
    "type": "object",
    "description": "Holds `result` or `error`.",
    "properties": {
        "jsonrpc": _VERSION,
        "id": {**_ID, "nullable": True},
        "result": {"type": "object", "additionalProperties": True},
        "error": _ERROR,
    },
    "required": ["jsonrpc", "id"],
}
_PROGRESS = {
    "type": "object",
    "description": "How far a request has come, where it asked for that with a `progressToken`.",
    "properties": {
        "jsonrpc": _VERSION,
        "method": {"type": "string", "enum": ["notifications/progress"]},
        "params": {
            "type": "object",
            "properties": {
                "progressToken": _TOKEN,
                "progress": {"type": "number", "minimum": 0, "maximum": 1},
                "stage": {"type": "string"},
                "message": {"type": "string"},
                "partial": {"type": "object", "additionalProperties": True},
            },
            "required": ["progressToken", "progress", "stage"],
        },
    },
    "required": ["jsonrpc", "method", "params"],
}
_FRAME = {
    "type": "object",
    "description": "The line `data: <JSON>` and a blank line: events of the default name, message. "
    "Comment lines (`: keep-alive`) may come between them, and are to be ignored.",
    "properties": {"data": {"oneOf": [reference("RcpProgress"), reference("RcpResponse")]}},
    "required": ["data"],
}
_REFUSALS = {
    400: "Not JSON-RPC.",
    401: "The API key is wrong.",
    403: "The caller may not do this.",
    413: "The body is too large.",
    429: "Too many requests; `Retry-After` says when to come back.",
    500: "Something went wrong on our side.",
    503: "Busy, shutting down, or a part is unreachable.",
}
_RESPONSES: dict[Any, Any] = {
    (200, "application/json"): _one_or_batch(reference("RcpResponse")),
    (200, "text/event-stream"): OpenApiResponse(
        reference("RcpFrame"), "With `Accept: text/event-stream`: progress, then the response."
    ),
    204: OpenApiResponse(description="To a notification."),
    **{
        (status, "application/json"): OpenApiResponse(reference("RcpResponse"), words)
        for status, words in _REFUSALS.items()
    },
}
_SESSION = OpenApiParameter(
    "RCP-Session", str, OpenApiParameter.HEADER, description="As `initialize` handed it out."
)

rcp_described: Any = extend_schema(
    operation_id="rcp",
    summary="Call the search engine over RCP",
    parameters=[_SESSION],
    request={"application/json": _one_or_batch(reference("RcpRequest"))},
    responses=_RESPONSES,
)
rcp_method_described: Any = extend_schema(
    operation_id="rcp_method",
    summary="Call the method that the path and the body name",
    parameters=[_SESSION, OpenApiParameter("method", str, OpenApiParameter.PATH)],
    request={"application/json": _one_or_batch(reference("RcpRequest"))},
    responses=_RESPONSES,
)


def add_messages(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Postprocessing hook: the messages that the routes refer to."""
    schemas = result.setdefault("components", {}).setdefault("schemas", {})
    schemas.update(
        RcpRequest=_REQUEST, RcpResponse=_RESPONSE, RcpProgress=_PROGRESS, RcpFrame=_FRAME
    )
    return result
