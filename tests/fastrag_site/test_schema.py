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
from fastrag_site.schema_errors import ENVELOPE, codes
from fastrag_site.urls import urlpatterns
from tests.live import ROOT


def generated(kind: str = "openapi-json") -> str:
    output, problems = StringIO(), StringIO()
    call_command(
        "spectacular", "--validate", "--fail-on-warn", "--format", kind,
        stdout=output, stderr=problems,
    )  # fmt: skip
    assert problems.getvalue() == ""
    return output.getvalue()


@pytest.fixture(scope="module")
def schema() -> Any:
    return json.loads(generated())


def resolved(schema: Any, part: Any) -> Any:
    """The part, or the component that it refers to."""
    for name in part.get("$ref", "#").split("/")[1:]:
        schema = schema[name]
        part = schema
    return part


def test_it_is_valid_without_warnings_and_the_same_each_time(schema: Any) -> None:
    assert json.loads(generated()) == schema


def test_the_committed_document_is_what_the_code_says() -> None:
    committed = (ROOT / "docs" / "openapi.yaml").read_text()
    assert generated("openapi").strip() == committed.strip(), "run `make schema`, and commit"


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
    assert resolved(schema, message)["required"] == ["jsonrpc", "method"]
    assert batch["items"] == message
    assert operation["responses"]["200"]["content"].keys() == {
        "application/json",
        "text/event-stream",
    }
    assert ENVELOPE not in json.dumps(operation)


def test_every_operation_of_the_api_declares_its_refusals(schema: Any) -> None:
    for path, operations in schema["paths"].items():
        if not path.startswith("/api/") or path in ("/api/schema", "/api/docs"):
            continue
        for method, operation in operations.items():
            responses = operation["responses"]
            assert {"401", "403", "429", "500", "503"} <= responses.keys(), (path, method)
            for status, response in responses.items():
                if status >= "400":
                    assert codes_of(schema, response) <= CODES[int(status)], (path, method, status)
            if "{" in path:
                assert "404" in responses, (path, method)
            if "requestBody" in operation:
                assert {"400", "413", "415"} <= responses.keys(), (path, method)


CODES = {status: {c for c, of in codes().items() if of == status} for status in codes().values()}


def codes_of(schema: Any, response: Any) -> set[str]:
    content = resolved(schema, response)["content"]["application/json"]["schema"]
    envelope, narrowed = content["allOf"]
    assert envelope == {"$ref": f"#/components/schemas/{ENVELOPE}"}
    found = set(narrowed["properties"]["error"]["properties"]["code"]["enum"])
    assert found
    return found


def test_every_code_is_in_one_shape_of_the_envelope(schema: Any) -> None:
    shapes = schema["components"]["schemas"][ENVELOPE]["properties"]["error"]["oneOf"]
    named = [
        code for shape in shapes for code in resolved(schema, shape)["properties"]["code"]["enum"]
    ]
    assert sorted(named) == sorted(set(named))
    assert {"CHAT_BUSY", "RATE_LIMITED", "INTERNAL_ERROR", "CSRF_FAILED"} <= set(named)
    assert "UNKNOWN" not in named
    assert RequestRefused.code in named


def test_every_response_names_its_request(schema: Any) -> None:
    for path, operations in schema["paths"].items():
        for method, operation in operations.items():
            assert {"$ref": "#/components/parameters/X-Request-ID"} in operation["parameters"]
            for response in operation["responses"].values():
                headers = resolved(schema, response)["headers"]
                assert "X-Request-ID" in headers, (path, method)


def test_what_is_refused_for_a_while_says_for_how_long(schema: Any) -> None:
    for path, operations in schema["paths"].items():
        for operation in operations.values():
            for status in {"429", "503"} & operation["responses"].keys():
                headers = resolved(schema, operation["responses"][status])["headers"]
                assert "Retry-After" in headers, path


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
