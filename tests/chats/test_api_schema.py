"""What the OpenAPI document says of the chat routes."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command

from chats.generation.errors import GenerationFailed
from chats.idempotency import HEADER
from tests.sse_client import Decoder, Event

CHAT = "/api/chats/{chat_id}"
ANSWER = CHAT + "/messages/{message_id}"
STREAMS = ["/api/chats", CHAT + "/messages", ANSWER + "/regenerate"]
FRAMES = {
    "message_start": "MessageStart",
    "sources": "Sources",
    "delta": "Delta",
    "message_end": "MessageEnd",
}


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
    components = schema["components"]["schemas"]
    frames = components["StreamEvent"]["oneOf"]
    assert frames == [reference(f"{name}Frame") for name in FRAMES.values()]
    for event, name in FRAMES.items():
        frame = components[f"{name}Frame"]
        assert frame["properties"]["event"]["enum"] == [event]
        assert frame["properties"]["data"] == reference(f"{name}Event")
        assert frame["required"] == ["event", "data"]


def test_how_an_answer_ended_tells_whether_there_is_an_error(schema: Any) -> None:
    components = schema["components"]["schemas"]
    assert components["MessageEndEvent"]["oneOf"] == [
        reference("AnswerEnded"),
        reference("AnswerFailed"),
    ]
    assert "error" not in components["AnswerEnded"]["properties"]
    assert "error" in components["AnswerFailed"]["required"]
    assert components["AnswerFailedFinishReasonEnum"]["enum"] == ["error"]
    assert set(components["StreamErrorCode"]["enum"]) == {
        kind.code for kind in GenerationFailed.__subclasses__()
    }


@pytest.mark.parametrize("path", STREAMS)
def test_a_stream_has_an_example_and_headers_that_keep_it_flowing(schema: Any, path: str) -> None:
    answered = schema["paths"][path]["post"]["responses"]["200"]
    example = answered["content"]["text/event-stream"]["example"]
    found = Decoder().feed(example.encode())
    assert [one.name for one in found if isinstance(one, Event)] == list(FRAMES)
    assert {"Cache-Control", "X-Accel-Buffering", "Content-Encoding"} <= answered["headers"].keys()


def test_a_page_of_chats_comes_with_the_addresses_of_its_neighbours(schema: Any) -> None:
    operation = schema["paths"]["/api/chats"]["get"]
    name = body(operation, 200)["$ref"].rpartition("/")[2]
    page = schema["components"]["schemas"][name]
    assert page["required"] == ["results", "next", "previous"]
    assert page["properties"]["results"]["items"] == reference("ChatSummary")
    names = [one["name"] for one in operation["parameters"] if one.get("in") == "query"]
    assert names == ["cursor", "limit", "search"]


@pytest.mark.parametrize("path", STREAMS)
def test_what_is_streamed_takes_an_idempotency_key(schema: Any, path: str) -> None:
    operation = schema["paths"][path]["post"]
    headers = [one["name"] for one in operation["parameters"] if one.get("in") == "header"]
    assert headers == [HEADER]
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
    (kind,) = [one for one in operation["parameters"] if one.get("in") == "query"]
    assert (kind["name"], kind["schema"]["enum"]) == ("as", ["markdown", "json"])
