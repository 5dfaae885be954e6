"""What the OpenAPI document says of headers. Above: SPECTACULAR_SETTINGS (the hook)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

REQUEST_ID = "X-Request-ID"
_TEXT = {"type": "string"}


def _header(description: str, schema: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"description": description, "schema": schema or _TEXT}


# By name, as components of the document.
HEADERS: dict[str, dict[str, Any]] = {
    REQUEST_ID: _header("Names the request, here and in the log."),
    "Retry-After": _header("Seconds to wait.", {"type": "integer", "minimum": 1}),
    "WWW-Authenticate": _header("How to say who you are.", {"type": "string", "enum": ["Bearer"]}),
    "Set-Cookie": _header("The session of somebody anonymous who asks for the first time."),
    "Content-Disposition": _header("A name for the file, after the title of the chat."),
    "Cache-Control": _header("Nothing on the way may keep or change the stream."),
    "X-Accel-Buffering": _header("Nor hold it back.", {"type": "string", "enum": ["no"]}),
    "Content-Encoding": _header("Nor compress it.", {"type": "string", "enum": ["identity"]}),
}
PARAMETERS: dict[str, dict[str, Any]] = {
    REQUEST_ID: {
        "in": "header",
        "name": REQUEST_ID,
        "description": "A name for the request, of 1 to 64 letters, digits and `._:-`. The server "
        "replaces any other.",
        "schema": _TEXT,
    }
}
_BY_STATUS = {
    "401": ("WWW-Authenticate",),
    "429": ("Retry-After",),
    "503": ("Retry-After",),
}
_BY_MEDIA_TYPE = {
    "text/event-stream": ("Cache-Control", "X-Accel-Buffering", "Content-Encoding"),
    "text/markdown": ("Content-Disposition",),
}
_ASKING = ("/api/chats", "/api/chats/{chat_id}/messages")


def add_headers(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Postprocessing hook, the last one: the headers of every response, and of every request."""
    components = result.setdefault("components", {})
    components["headers"], components["parameters"] = HEADERS, PARAMETERS
    for path, item in result["paths"].items():
        for operation in item.values():
            parameters = operation.setdefault("parameters", [])
            parameters.append({"$ref": f"#/components/parameters/{REQUEST_ID}"})
            for status, response in operation["responses"].items():
                _add(response, status, path)
    for response in components.get("responses", {}).values():
        _add(response, response.pop("x-status"), "")
    return result


def _add(response: dict[str, Any], status: str, path: str) -> None:
    if "$ref" in response:
        return
    names = sorted(set(_names(response, status, path)))
    response["headers"] = {name: {"$ref": f"#/components/headers/{name}"} for name in names}


def _names(response: dict[str, Any], status: str, path: str) -> Iterator[str]:
    yield REQUEST_ID
    yield from _BY_STATUS.get(status, ())
    for media_type in response.get("content", {}):
        yield from _BY_MEDIA_TYPE.get(media_type, ())
        if media_type == "text/event-stream" and path in _ASKING:
            yield "Set-Cookie"
