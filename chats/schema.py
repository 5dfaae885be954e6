"""What the OpenAPI document says of the chat routes beside their serializers.

Below: event_schemas, fastrag_site.schema_errors. Above: views, message_views, and
SPECTACULAR_SETTINGS (the hook).
"""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiParameter, OpenApiResponse

from chats.event_schemas import STREAM
from chats.idempotency import HEADER, MAX_CHARS
from fastrag_site import schema_errors

IDEMPOTENCY_KEY = OpenApiParameter(
    name=HEADER,
    type={"type": "string", "pattern": rf"^[\x21-\x7e]{{1,{MAX_CHARS}}}$"},
    location=OpenApiParameter.HEADER,
    description=f"Up to {MAX_CHARS} visible ASCII characters. The same request with the same key "
    "is answered once; a repeat is sent the stored answer.",
)
_EXAMPLE = """event: message_start
data: {"chat_id":"…","user_message_id":"…","message_id":"…"}

event: sources
data: {"message_id":"…","sources":[]}

: keep-alive

event: delta
data: {"message_id":"…","delta":{"type":"text","text":"To"}}

event: message_end
data: {"message_id":"…","finish_reason":"stop"}

"""


def conflicts(*codes: str) -> OpenApiResponse:
    described = schema_errors.response(*codes)
    return OpenApiResponse(schema_errors.narrowed(*codes), description=described["description"])


def stream_responses(*refusals: str) -> dict[Any, Any]:
    stream = OpenApiResponse(STREAM, "The answer, as it is written.")
    return {(200, "text/event-stream"): stream, 409: conflicts(*refusals)}


def describe_chats(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Postprocessing hook: ids are UUIDs, whatever a path holds; streams have an example; feedback
    that is shown has a comment, if an empty one.
    """
    result["components"]["schemas"]["Feedback"]["required"] = ["comment", "rating"]
    for item in result["paths"].values():
        for operation in item.values():
            for parameter in operation.get("parameters", []):
                if parameter.get("in") == "path" and parameter["name"].endswith("_id"):
                    parameter["schema"]["format"] = "uuid"
            content = operation["responses"].get("200", {}).get("content", {})
            stream = content.get("text/event-stream", {})
            if stream.get("schema") == schema_errors.reference("StreamEvent"):
                stream["example"] = _EXAMPLE
    return result
