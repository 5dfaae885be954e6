"""What the OpenAPI document says of refusals: the envelope, and the codes of each operation.

Below: errors. Above: schema (the hook), chats.wire (conflicts). A client that is generated from the
document narrows on `error.code`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fastrag_site.errors import RequestRefused

ENVELOPE = "ErrorResponse"
WITH_BODY = (400, 413, 415)

_WORDS: dict[str, Any] = {"type": "string"}
_IDS: dict[str, Any] = {"type": "string", "format": "uuid"}


def codes() -> dict[str, int]:
    """Every code of a refusal, with its status."""
    found: dict[str, int] = {}

    def visit(kind: type[RequestRefused]) -> None:
        for child in kind.__subclasses__():
            if "code" in vars(child):
                found.setdefault(child.code, child.status)
            visit(child)

    visit(RequestRefused)
    return dict(sorted(found.items()))


def schemas() -> dict[str, Any]:
    """The envelope and its parts, by the name of the component."""
    of_their_own = {"VALIDATION_ERROR", "CHAT_BUSY"}
    fields = {
        "type": "object",
        "description": "What is wrong, by field.",
        "additionalProperties": {"type": "array", "items": _WORDS},
    }
    details = {
        "type": "object",
        "description": "The answer that is being written, to a repeat of its request.",
        "properties": {"chat_id": _IDS, "message_id": _IDS},
        "required": ["chat_id", "message_id"],
    }
    others = [code for code in codes() if code not in of_their_own]
    return {
        ENVELOPE: {
            "type": "object",
            "description": "Why a request was refused.",
            "properties": {
                "error": {"oneOf": [reference(name) for name in ("Invalid", "Busy", "Refusal")]}
            },
            "required": ["error"],
        },
        "Invalid": _refusal("Some fields are not valid.", ["VALIDATION_ERROR"], fields=fields),
        "Busy": {
            **_refusal("An answer is still being written.", ["CHAT_BUSY"], details=details),
            "required": ["code", "message"],
        },
        "Refusal": _refusal("A refusal that its code says all of.", others),
    }


def statuses(
    path: str, method: str, operation: dict[str, Any]
) -> Iterator[tuple[int, tuple[str, ...]]]:
    """The refusals that every operation of its kind shares, as status and codes."""
    yield 401, ("NOT_AUTHENTICATED",)
    yield 403, ("PERMISSION_DENIED",) if method == "get" else ("CSRF_FAILED", "PERMISSION_DENIED")
    yield 500, ("INTERNAL_ERROR",)
    yield 503, ("SERVICE_UNAVAILABLE",)
    if "text/event-stream" in operation["responses"].get("200", {}).get("content", {}):
        yield 429, ("RATE_LIMITED", "TOO_MANY_GENERATIONS")
    else:
        yield 429, ("RATE_LIMITED",)
    if "requestBody" in operation:
        yield 400, ("MALFORMED_JSON", "VALIDATION_ERROR")
        yield 413, ("PAYLOAD_TOO_LARGE",)
        yield 415, ("UNSUPPORTED_MEDIA_TYPE",)
    elif any(one.get("in") in ("query", "header") for one in operation.get("parameters", [])):
        yield 400, ("VALIDATION_ERROR",)
    if "{message_id}" in path:
        yield 404, ("CHAT_NOT_FOUND", "MESSAGE_NOT_FOUND")
    elif "{chat_id}" in path:
        yield 404, ("CHAT_NOT_FOUND",)


def response(*of: str) -> dict[str, Any]:
    """The response of a refusal with one of these codes."""
    return {
        "description": " or ".join(f"`{code}`" for code in of),
        "content": {"application/json": {"schema": narrowed(*of)}},
    }


def narrowed(*of: str) -> dict[str, Any]:
    """The envelope, with none but these codes."""
    code = {"type": "object", "properties": {"code": {"type": "string", "enum": list(of)}}}
    return {"allOf": [reference(ENVELOPE), {"type": "object", "properties": {"error": code}}]}


def component_of(*of: str) -> str:
    """The name under which operations share that response: ChatNotFoundOrMessageNotFound."""
    return "Or".join("".join(word.capitalize() for word in code.split("_")) for code in of)


def reference(name: str, kind: str = "schemas") -> dict[str, str]:
    return {"$ref": f"#/components/{kind}/{name}"}


def _refusal(description: str, of: list[str], **more: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "description": description,
        "properties": {"code": {"type": "string", "enum": of}, "message": _WORDS, **more},
        "required": ["code", "message", *more],
    }
