"""The OpenAPI document against a running server: what is answered is what is described."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
import yaml
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from schemathesis import GenerationMode, checks

from tests.chats.live_parts import Visitor, env
from tests.live import ROOT, Server, copied, serve

PATH = ROOT / "docs" / "openapi.yaml"
API = schemathesis.openapi.from_path(PATH)
DOCUMENT = yaml.safe_load(PATH.read_text())
OPERATIONS = [
    (path, method)
    for path, item in DOCUMENT["paths"].items()
    for method in item
    if path != "/api/docs"
]
CHECKS = [
    checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
]


@pytest.fixture(scope="module")
def server(migrated_var_dir: Any, tmp_path_factory: Any) -> Iterator[Server]:
    limits = env(requests_per_minute="1000000", chats_per_owner="100000")
    with serve(copied(migrated_var_dir, tmp_path_factory), env=limits) as server:
        yield server


@pytest.fixture(scope="module")
def visitor(server: Server) -> Visitor:
    return Visitor(server).with_session()


@pytest.mark.parametrize(("path", "method"), OPERATIONS)
def test_whatever_is_sent_is_answered_as_described(
    path: str, method: str, server: Server, visitor: Visitor
) -> None:
    operation = API[path][method]
    with visitor.ask() as stream:
        begun = stream.events()[0].data
    cases = st.one_of(
        *(operation.as_strategy(generation_mode=mode) for mode in GenerationMode),
    )

    @given(case=cases, known=st.booleans())
    @settings(
        max_examples=10,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def check(case: Any, known: bool) -> None:
        case.headers = {}  # the HTTP parser refuses many before anything of ours sees them
        if known:
            case.path_parameters |= {
                name: begun[name] for name in case.path_parameters if name in begun
            }
        response = case.call(base_url=server.url, headers=visitor.cookie)
        is_stream = "text/event-stream" in str(response.headers.get("content-type"))
        schema = [] if is_stream else [checks.response_schema_conformance]  # see the test below
        case.validate_response(response, checks=[*CHECKS, *schema])

    check()


def test_the_frames_of_a_stream_are_as_described(visitor: Visitor) -> None:
    schema = plain({"$ref": "#/components/schemas/StreamEvent"})
    with visitor.ask() as stream:
        frames = [{"event": event.name, "data": event.data} for event in stream.events()]
    assert {frame["event"] for frame in frames} == {
        "message_start", "sources", "delta", "message_end",
    }  # fmt: skip
    for frame in frames:
        assert list(Draft202012Validator(schema).iter_errors(frame)) == []


def plain(schema: Any) -> Any:
    """JSON Schema of a part of the document: references resolved, `nullable` as a type."""
    if isinstance(schema, list):
        return [plain(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if reference := schema.get("$ref"):
        part = DOCUMENT
        for name in reference.split("/")[1:]:
            part = part[name]
        return plain(part)
    found = {key: plain(value) for key, value in schema.items() if key != "nullable"}
    return {"anyOf": [found, {"type": "null"}]} if schema.get("nullable") else found
