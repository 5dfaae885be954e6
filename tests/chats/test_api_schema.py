"""What the OpenAPI document says of the chat routes."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command

CHAT = "/api/chats/{chat_id}"
ANSWER = CHAT + "/messages/{message_id}"
STREAMS = ["/api/chats", CHAT + "/messages", ANSWER + "/regenerate"]
FRAMES = ["MessageStartEvent", "SourcesEvent", "DeltaEvent", "MessageEndEvent"]


@pytest.fixture(scope="module")
def schema() -> Any:
    output, problems = StringIO(), StringIO()
    call_command(
        "spectacular", "--fail-on-warn", "--format", "openapi-json",
        stdout=output, stderr=problems,
    )  # fmt: skip
    assert problems.getvalue() == ""
    return json.loads(output.getvalue())


def body(operation: Any, status: int, media_type: str = "application/json") -> Any:
    return operation["responses"][str(status)]["content"][media_type]["schema"]


def reference(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


def test_the_routes_are_the_documented_ones(schema: Any) -> None:
    chats = {path: sorted(ops) for path, ops in schema["paths"].items() if "chats" in path}
    assert chats == {
        "/api/chats": ["get", "post"],
        CHAT: ["delete", "get", "patch"],
        CHAT + "/export": ["get"],
        CHAT + "/messages": ["post"],
        CHAT + "/stop": ["post"],
        ANSWER + "/feedback": ["delete", "put"],
        ANSWER + "/regenerate": ["post"],
    }


@pytest.mark.parametrize("path", STREAMS)
def test_a_stream_is_its_four_frames_by_name(schema: Any, path: str) -> None:
    stream = body(schema["paths"][path]["post"], 200, "text/event-stream")
    assert stream == reference("StreamEvent")
    frames = schema["components"]["schemas"]["StreamEvent"]["oneOf"]
    assert frames == [reference(name) for name in FRAMES]


@pytest.mark.parametrize("path", STREAMS)
def test_what_is_streamed_takes_an_idempotency_key(schema: Any, path: str) -> None:
    operation = schema["paths"][path]["post"]
    headers = [one["name"] for one in operation["parameters"] if one["in"] == "header"]
    assert headers == ["Idempotency-Key"]
    assert "IDEMPOTENCY_CONFLICT" in operation["responses"]["409"]["description"]


def test_stopping_tells_what_will_end(schema: Any) -> None:
    operation = schema["paths"][CHAT + "/stop"]["post"]
    assert body(operation, 202) == reference("Stopping")
    assert "NOT_RUNNING" in operation["responses"]["409"]["description"]
    assert "requestBody" not in operation


def test_an_answer_lists_its_alternatives_and_its_feedback(schema: Any) -> None:
    message = schema["components"]["schemas"]["Message"]["properties"]
    assert message["alternatives"]["items"] == reference("Answer")
    assert reference("Feedback") in message["feedback"]["allOf"]
    assert message["feedback"]["nullable"]


def test_an_export_is_markdown_or_the_chat(schema: Any) -> None:
    operation = schema["paths"][CHAT + "/export"]["get"]
    assert body(operation, 200) == reference("Chat")
    assert body(operation, 200, "text/markdown") == {"type": "string"}
    (kind,) = [one for one in operation["parameters"] if one["in"] == "query"]
    assert (kind["name"], kind["schema"]["enum"]) == ("as", ["markdown", "json"])
