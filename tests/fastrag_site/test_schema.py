"""The OpenAPI document."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import URLResolver

from fastrag_site.error_views import api_not_found, is_machine_path
from fastrag_site.errors import RequestRefused
from fastrag_site.schema import ENVELOPE
from fastrag_site.urls import urlpatterns


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


def test_it_describes_every_route_for_machines_and_nothing_else(schema: Any) -> None:
    declared = {re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", route) for route in routes_of(urlpatterns)}
    assert schema["paths"].keys() == {route for route in declared if is_machine_path(route)}


def routes_of(patterns: list[Any], before: str = "/") -> Iterator[str]:
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            yield from routes_of(pattern.url_patterns, before + str(pattern.pattern))
        elif pattern.callback is not api_not_found:
            yield before + str(pattern.pattern)


@pytest.mark.django_db
def test_health_and_metrics_answer_as_described(client: Client, schema: Any) -> None:
    for path in ("/healthz", "/readyz", "/metrics", "/api/docs", "/api/schema"):
        response = client.get(path)
        described = schema["paths"][path]["get"]["responses"][str(response.status_code)]
        assert response.headers["Content-Type"].split(";")[0] in described["content"]


@pytest.mark.parametrize("path", ["/rcp", "/rcp/{method}"])
def test_rcp_is_json_rpc_in_both_directions(schema: Any, path: str) -> None:
    operation = schema["paths"][path]["post"]
    message, batch = operation["requestBody"]["content"]["application/json"]["schema"]["oneOf"]
    assert message["required"] == ["jsonrpc", "method"]
    assert batch["items"] == message
    assert operation["responses"]["200"]["content"].keys() == {
        "application/json",
        "text/event-stream",
    }
    assert ENVELOPE not in json.dumps(operation)


def test_every_operation_of_the_api_declares_the_error_envelope(schema: Any) -> None:
    reference = {"schema": {"$ref": f"#/components/schemas/{ENVELOPE}"}}
    for path, operations in schema["paths"].items():
        if not path.startswith("/api/") or path in ("/api/schema", "/api/docs"):
            continue
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
