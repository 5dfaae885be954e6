"""The Python client: its values, and that its vocabularies are those of the OpenAPI document."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import FrozenInstanceError
from typing import Any, get_args

import httpx
import pytest
import yaml

import fastrag_client
from fastrag_client import Client, Delta, Fragment, Refused, Source
from fastrag_client.errors import RefusalCode
from fastrag_client.events import FinishReason, StreamErrorCode
from tests.live import ROOT

COMPONENTS = yaml.safe_load((ROOT / "docs" / "openapi.yaml").read_text())["components"]["schemas"]


def enum(name: str, *path: str) -> set[str]:
    part = COMPONENTS[name]
    for step in path:
        part = part[step]
    return set(part["enum"])


def test_its_vocabularies_are_those_of_the_document() -> None:
    code = ("properties", "code")
    shapes = enum("Invalid", *code) | enum("Busy", *code) | enum("Refusal", *code)
    assert set(get_args(RefusalCode)) == shapes | {"UNKNOWN"}
    assert set(get_args(StreamErrorCode)) == enum("StreamErrorCode")
    assert set(get_args(FinishReason)) == enum("FinishReason")


def test_events_cannot_be_changed() -> None:
    delta = Delta(message_id="m", text="Hi")
    with pytest.raises(FrozenInstanceError):
        delta.text = "Ho"  # type: ignore[misc]


def test_a_refusal_passes_through_a_context_manager() -> None:
    @contextlib.contextmanager
    def around() -> Iterator[None]:
        yield

    with pytest.raises(Refused, match="404 CHAT_NOT_FOUND"), around():
        raise Refused(404, "CHAT_NOT_FOUND", "No.")


def source(url: str, *fragments: tuple[str, str | None]) -> Source:
    return Source(
        url=url,
        title="T",
        site_name=None,
        favicon_url=None,
        positions=(1,),
        fragments=tuple(Fragment(start=start, end=end) for start, end in fragments),
    )


@pytest.mark.parametrize(
    ("fragments", "expected"),
    [
        ([], ""),
        ([("one", None)], "#:~:text=one"),
        ([("multi-agent", "a, b & c")], "#:~:text=multi%2Dagent,a%2C%20b%20%26%20c"),
        ([("a", "b"), ("c", None)], "#:~:text=a,b&text=c"),
    ],
)
def test_a_link_scrolls_to_the_passages(
    fragments: list[tuple[str, str | None]], expected: str
) -> None:
    assert source("https://e.org/p", *fragments).link == "https://e.org/p" + expected


def test_a_link_keeps_the_anchor_of_its_url() -> None:
    assert source("https://e.org/p#s", ("a", None)).link == "https://e.org/p#s:~:text=a"


def sent_by(client: httpx.Client, **options: Any) -> httpx.Request:
    with (
        Client("http://test", http=client, **options) as asking,
        contextlib.suppress(fastrag_client.ConnectionLost),
    ):
        list(asking.ask("And?", chat_id="c1"))
    return SEEN.pop()


SEEN: list[httpx.Request] = []


def seeing() -> httpx.Client:
    def handle(request: httpx.Request) -> httpx.Response:
        SEEN.append(request)
        return httpx.Response(200, headers={"Content-Type": "text/event-stream"}, content=b"")

    return httpx.Client(transport=httpx.MockTransport(handle))


def test_a_signed_in_session_sends_its_csrf_token() -> None:
    client = seeing()
    client.cookies.set("csrftoken", "token")
    assert sent_by(client).headers["X-CSRFToken"] == "token"


def test_an_api_key_is_sent_as_a_bearer_token() -> None:
    assert sent_by(seeing(), api_key="frs_1").headers["Authorization"] == "Bearer frs_1"
