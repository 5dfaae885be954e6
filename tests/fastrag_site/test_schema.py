"""The OpenAPI document."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from fastrag_site.errors import RequestRefused
from fastrag_site.schema import ENVELOPE


def generated() -> str:
    output, problems = StringIO(), StringIO()
    call_command(
        "spectacular", "--validate", "--fail-on-warn", "--format", "openapi-json",
        stdout=output, stderr=problems,
    )  # fmt: skip
    assert problems.getvalue() == ""
    return output.getvalue()


@pytest.fixture(scope="module")
def schema() -> Any:
    return json.loads(generated())


def test_it_is_valid_without_warnings_and_the_same_each_time(schema: Any) -> None:
    assert json.loads(generated()) == schema


def test_it_holds_the_api_alone(schema: Any) -> None:
    assert schema["paths"]
    assert all(path.startswith("/api/") for path in schema["paths"])


def test_every_operation_declares_the_error_envelope(schema: Any) -> None:
    reference = {"schema": {"$ref": f"#/components/schemas/{ENVELOPE}"}}
    for path, operations in schema["paths"].items():
        for method, operation in operations.items():
            responses = operation["responses"]
            assert {"401", "403", "429", "500", "503"} <= responses.keys(), (path, method)
            assert responses["500"]["content"] == {"application/json": reference}
            if "{" in path:
                assert "404" in responses, (path, method)
            if "requestBody" in operation:
                assert {"400", "413", "415"} <= responses.keys(), (path, method)


def test_the_envelope_names_every_code(schema: Any) -> None:
    envelope = schema["components"]["schemas"][ENVELOPE]
    codes = envelope["properties"]["error"]["properties"]["code"]["enum"]
    assert codes == sorted(set(codes))
    assert {"CHAT_BUSY", "RATE_LIMITED", "INTERNAL_ERROR", "CSRF_FAILED"} <= set(codes)
    assert "UNKNOWN" not in codes
    assert RequestRefused.code in codes


def test_it_says_how_to_authenticate(schema: Any) -> None:
    schemes = schema["components"]["securitySchemes"]
    assert schemes["apiKey"]["scheme"] == "bearer"
    assert schemes["session"]["in"] == "cookie"


@pytest.mark.django_db
def test_it_is_served_whatever_the_client_accepts(client: Client, schema: Any) -> None:
    for accept in ("*/*", "text/event-stream", "application/yaml"):
        response = client.get("/api/schema", HTTP_ACCEPT=accept)
        assert response.status_code == 200
        assert json.loads(response.content)["paths"].keys() == schema["paths"].keys()
