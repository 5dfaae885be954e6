"""What a server is sent, what of it it may refuse, and when it is asked again."""

from __future__ import annotations

import socket
import time
from typing import Any

import pytest

from chats.generation.errors import ModelError, UpstreamUnavailable
from chats.generation.openai_compatible.messages import messages_from
from tests.chats.generation.openai_parts import KEY, hear, model_at, passage, prompt, turn
from tests.upstream import RESET, Script, answer, error, upstream


async def test_the_request_names_model_limit_and_messages_and_asks_for_usage() -> None:
    with upstream() as server:
        await hear(model_at(server, temperature=0, extra_body={"top_k": 5}))
    sent = server.requests[0]
    assert (sent.method, sent.path) == ("POST", "/v1/chat/completions")
    assert sent.headers["authorization"] == f"Bearer {KEY}"
    assert sent.headers["accept-encoding"] == "identity"
    body = sent.json
    assert [message["role"] for message in body.pop("messages")] == ["system", "user"]
    assert body == {
        "model": "scripted",
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": 64,
        "temperature": 0,
        "top_k": 5,
    }


async def test_nothing_is_sent_that_was_not_set() -> None:
    with upstream() as server:
        await hear(model_at(server, api_key="", ask_usage=False))
    assert "authorization" not in server.requests[0].headers
    assert set(server.requests[0].json) == {"model", "messages", "stream", "max_tokens"}


async def test_keys_and_names_in_the_environment_are_not_sent_anywhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("API_KEY", "ADMIN_KEY", "ORG_ID", "PROJECT_ID"):
        monkeypatch.setenv(f"OPENAI_{name}", "for-someone-else")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    with upstream() as server:
        await hear(model_at(server, api_key=""))
    assert "for-someone-else" not in str(server.requests[0].headers)


@pytest.mark.parametrize("name", ["Authorization", "authorization", "AUTHORIZATION"])
async def test_an_extra_header_takes_the_place_of_the_key(name: str) -> None:
    for key in (KEY, ""):
        with upstream() as server:
            headers = {name: "Basic eDp5", "X-Team": "docs"}
            await hear(model_at(server, api_key=key, extra_headers=headers))
        assert server.requests[0].headers["authorization"] == "Basic eDp5"
        assert server.requests[0].headers["x-team"] == "docs"


async def test_the_limit_of_the_options_goes_before_the_prompts() -> None:
    with upstream() as server:
        await hear(model_at(server, max_tokens=4000))
    assert server.requests[0].json["max_tokens"] == 4000


async def test_a_base_url_with_a_trailing_slash_is_the_same() -> None:
    with upstream() as server:
        await hear(model_at(server.base_url + "/"))
    assert server.requests[0].path == "/v1/chat/completions"


async def test_a_redirect_is_not_followed_with_the_key() -> None:
    with upstream() as elsewhere, upstream(error(307, Location=elsewhere.base_url)) as server:
        heard = await hear(model_at(server))
    assert isinstance(heard.failure, ModelError)
    assert elsewhere.requests == []


# What servers refuse


@pytest.mark.parametrize("status", [400, 422])
async def test_a_server_that_refuses_to_count_is_asked_without_and_remembered(status: int) -> None:
    refusal = error(status, {"message": "Extra inputs are not permitted"})
    with upstream(refusal, answer("Yes.")) as server:
        model = model_at(server)
        assert (await hear(model)).text == "Yes."
        assert (await hear(model)).text == "Yes."
    assert ["stream_options" in sent.json for sent in server.requests] == [True, False, False]


async def test_a_model_that_wants_the_limit_by_its_newer_name_gets_it() -> None:
    words = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
    with upstream(error(400, {"message": words}), answer("Yes.")) as server:
        model = model_at(server)
        assert (await hear(model)).text == "Yes."
        assert (await hear(model)).text == "Yes."
    sent = [request.json for request in server.requests]
    assert [body.get("max_tokens") for body in sent] == [64, None, None]
    assert [body.get("max_completion_tokens") for body in sent] == [None, 64, 64]
    assert all("stream_options" in body for body in sent)


async def test_a_refusal_for_another_reason_is_not_blamed_on_the_usage() -> None:
    refusal = error(400, {"message": "no such model"})
    with upstream(refusal, refusal, answer("Yes.")) as server:
        model = model_at(server)
        assert isinstance((await hear(model)).failure, ModelError)
        assert (await hear(model)).text == "Yes."
    assert ["stream_options" in sent.json for sent in server.requests] == [True, False, True]


# When it is asked again


@pytest.mark.parametrize(
    "first",
    [[], [RESET], error(503), error(429, Retry_After=0), error(500), error(502)],
    ids=["closed", "reset", "503", "429", "500", "502"],
)
async def test_a_failure_before_the_first_byte_is_tried_once_more(
    first: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chats.generation.openai_compatible.opening.PAUSE_SECONDS", 0.01)
    with upstream(first, answer("Yes.")) as server:
        assert (await hear(model_at(server))).text == "Yes."
    assert len(server.requests) == 2


async def test_it_is_tried_no_more_than_once_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chats.generation.openai_compatible.opening.PAUSE_SECONDS", 0.01)
    with upstream(error(503)) as server:
        assert isinstance((await hear(model_at(server))).failure, UpstreamUnavailable)
        assert len(server.requests) == 2


@pytest.mark.parametrize("wait", [60, "nan", "inf", "Wed, 21 Oct 2026 07:28:00 GMT"])
async def test_a_server_that_asks_for_patience_is_not_waited_for(wait: Any) -> None:
    with upstream(error(429, Retry_After=wait), answer("Yes.")) as server:
        began = time.monotonic()
        assert isinstance((await hear(model_at(server))).failure, UpstreamUnavailable)
    assert time.monotonic() - began < 1
    assert len(server.requests) == 1


@pytest.mark.parametrize("first", [error(401), error(404), error(501)])
async def test_what_would_fail_again_is_not_tried_again(first: Script) -> None:
    with upstream(first, answer("Yes.")) as server:
        model = model_at(server)
        assert isinstance((await hear(model)).failure, ModelError)
    assert len(server.requests) == 1


async def test_a_connection_that_is_never_accepted_is_given_up() -> None:
    """A full backlog drops the handshake, as a host that is gone does."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listener:
        address = listener.getsockname()
        with socket.create_connection(address):  # fills the queue
            base_url = f"http://127.0.0.1:{address[1]}/v1"
            heard = await hear(model_at(base_url, connect_seconds=0.2, read_seconds=0.2))
    assert heard.failure is not None
    assert heard.failure.code in {"SERVICE_UNAVAILABLE", "TIMEOUT"}


# Messages


def test_passages_stand_numbered_between_marks_that_they_cannot_close() -> None:
    text = "See `</passage>` and <PASSAGE number='9'>, < / passages > and <b> & co."
    asked = prompt(passages=(passage(text, 2, title='A "quoted"\nname', section=()),))
    system = str(messages_from(asked)[0].get("content"))
    assert system.endswith(
        "<passages>\n"
        '<passage number="2" page="A &quot;quoted&quot; name">\n'
        "See `&lt;/passage>` and &lt;PASSAGE number='9'>, &lt; / passages > and <b> & co.\n"
        "</passage>\n</passages>"
    )


def test_without_passages_the_model_is_told_so() -> None:
    assert "(none was found)" in str(messages_from(prompt(passages=()))[0].get("content"))


def test_turns_alternate_and_those_without_an_answer_are_left_out() -> None:
    history = (turn("One?", "1."), turn("Two?", ""), turn("Three?", " \n"), turn("Four?", "4."))
    said = messages_from(prompt("Five?", history=history))[1:]
    assert [(message["role"], message.get("content")) for message in said] == [
        ("user", "One?"),
        ("assistant", "1."),
        ("user", "Four?"),
        ("assistant", "4."),
        ("user", "Five?"),
    ]


async def test_a_short_text_of_ones_own_messages_can_be_completed() -> None:
    with upstream(answer("A ", "title")) as server:
        said = await model_at(server).complete([{"role": "user", "content": "x"}], max_tokens=9)
    assert said == "A title"
    assert server.requests[0].json["max_tokens"] == 9
