"""Request bodies are bounded, however they are framed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.test import override_settings

from fastrag_site.body_limit import BodyLimit
from fastrag_site.lifespan import Message, Receive, Scope, Send
from tests.live import Server, copied, serve
from tests.sse_client import Stream, send


@pytest.fixture(scope="module")
def server(migrated_var_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serve(
        copied(migrated_var_dir, tmp_path_factory),
        settings="tests.fastrag_site.probe.policy_settings",
        env={"FASTRAG_REQUEST_MAX_BYTES": "1000"},
    ) as server:
        yield server


def body_of(size: int) -> bytes:
    return json.dumps({"content": "x" * (size - len('{"content": ""}'))}).encode()


def chunked(server: Server, body: bytes, path: str = "/api/echo") -> Stream:
    head = {"Transfer-Encoding": "chunked", "Content-Type": "application/json"}
    sock = send(server.port, "POST", path, headers=head)
    for at in range(0, len(body), 300):
        piece = body[at : at + 300]
        sock.sendall(b"%x\r\n" % len(piece) + piece + b"\r\n")
    sock.sendall(b"0\r\n\r\n")
    return Stream(sock)


@pytest.mark.parametrize(("size", "status"), [(1000, 200), (1001, 413), (500_000, 413)])
def test_a_declared_body(server: Server, size: int, status: int) -> None:
    response = server.post("/api/echo", body_of(size))
    assert response.status == status
    answer = response.json()
    assert (status == 200) == ("data" in answer)
    assert status == 200 or answer["error"]["code"] == "PAYLOAD_TOO_LARGE"


@pytest.mark.parametrize(("size", "status"), [(1000, 200), (1001, 413), (50_000, 413)])
def test_a_body_without_content_length(server: Server, size: int, status: int) -> None:
    response = chunked(server, body_of(size))
    assert response.status == status
    assert (response.json().get("data") is not None) == (status == 200)


def test_a_view_outside_of_drf_refuses_it_too(server: Server) -> None:
    response = chunked(server, body_of(2000), "/api/open-form")
    assert response.status == 413
    assert response.json()["error"]["code"] == "PAYLOAD_TOO_LARGE"


def test_a_get_has_no_body(server: Server) -> None:
    assert server.get("/api/echo").json() == {"owner": "session:nobody"}


async def test_no_more_is_held_than_one_byte_above_the_limit() -> None:
    received: list[bytes] = []
    pieces = [{"type": "http.request", "body": b"x" * 70, "more_body": True} for _ in range(9)]
    messages: list[Message] = [*pieces, {"type": "http.disconnect"}]
    scope: Scope = {"type": "http", "headers": [(b"content-length", b"630"), (b"a", b"b")]}

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        first = await receive()
        received.append(first["body"])
        assert not first["more_body"]
        assert scope["headers"] == [(b"a", b"b"), (b"content-length", b"101")]
        assert await receive() == {"type": "http.disconnect"}

    async def receive() -> Message:
        return messages.pop(0)

    async def ignore(message: Message) -> None: ...

    with override_settings(FASTRAG={"REQUEST_MAX_BYTES": 100}):
        await BodyLimit(app)(scope, receive, ignore)
    assert received == [b"x" * 101]


async def test_a_client_that_leaves_in_its_body_reaches_no_view() -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        raise AssertionError("called")

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    async def ignore(message: Message) -> None: ...

    await BodyLimit(app)({"type": "http", "headers": []}, receive, ignore)
