"""What servers stream when all is well, in each of their dialects."""

from __future__ import annotations

import gzip
import json
import time

import pytest

from chats.generation.base import Finished, StopReason, Usage
from chats.generation.errors import ModelError
from tests.chats.generation.openai_parts import hear, model_at
from tests.upstream import (
    CHUNKED_HEAD,
    DONE,
    HEAD,
    KEEP,
    LAST_CHUNK,
    STALL,
    Forever,
    Script,
    answer,
    chunk,
    chunked,
    finish,
    frame,
    head,
    one_by_one,
    token,
    upstream,
    usage,
)

USED = Usage(prompt_tokens=3, completion_tokens=2)


async def test_each_chunk_becomes_one_token() -> None:
    with upstream(answer("One ", "two", ".")) as server:
        heard = await hear(model_at(server))
    assert heard.texts == ["One ", "two", "."]
    assert heard.finished == Finished(reason=StopReason.STOP)


async def test_a_last_chunk_without_choices_gives_the_usage() -> None:
    with upstream([HEAD, token("Yes."), finish(), usage(), DONE]) as server:
        heard = await hear(model_at(server))
    assert heard.finished == Finished(reason=StopReason.STOP, usage=USED)


async def test_usage_beside_the_finish_reason_is_taken() -> None:
    counts = {"prompt_tokens": 3, "completion_tokens": 2}
    with upstream([HEAD, token("Yes."), chunk({}, "stop", usage=counts), DONE]) as server:
        heard = await hear(model_at(server))
    assert heard.finished == Finished(reason=StopReason.STOP, usage=USED)


@pytest.mark.parametrize("count", [None, -1, True, "3", 2**31, 1.5])
async def test_counts_that_cannot_be_stored_are_no_usage(count: object) -> None:
    with upstream([HEAD, token("Yes."), finish(), usage(count, count), DONE]) as server:
        heard = await hear(model_at(server))
    assert heard.finished == Finished(reason=StopReason.STOP)


async def test_a_finish_reason_without_done_is_an_end() -> None:
    with upstream([HEAD, token("Yes."), finish()]) as server:
        heard = await hear(model_at(server))
    assert heard.text == "Yes."
    assert heard.finished == Finished(reason=StopReason.STOP)


@pytest.mark.parametrize("after", [[finish(), DONE, STALL], [finish(), usage(), DONE, STALL]])
async def test_a_connection_left_open_after_done_is_not_waited_for(after: Script) -> None:
    with upstream([HEAD, token("Yes."), *after]) as server:
        began = time.monotonic()
        heard = await hear(model_at(server))
        assert time.monotonic() - began < 1.5
        assert server.closed_after(began) < 2
    assert heard.finished is not None


async def test_a_server_that_ends_with_neither_usage_nor_done_is_waited_for_briefly(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("chats.generation.openai_compatible.reading.USAGE_SECONDS", 0.05)
    with upstream([HEAD, token("Yes."), finish(), STALL]) as server:
        heard = await hear(model_at(server))
    assert heard.finished == Finished(reason=StopReason.STOP)


@pytest.mark.parametrize("more", [frame({"choices": []}), usage(), token("")])
async def test_a_server_that_goes_on_for_ever_after_its_finish_reason_is_left(
    more: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chats.generation.openai_compatible.reading.USAGE_SECONDS", 0.3)
    with upstream([HEAD, token("Yes."), finish(), Forever(more)]) as server:
        began = time.monotonic()
        heard = await hear(model_at(server))
        assert time.monotonic() - began < 1.5
        assert server.closed_after(began) < 2
    assert heard.text == "Yes."
    assert heard.finished is not None and heard.finished.reason is StopReason.STOP


async def test_a_packed_reply_is_unpacked_though_none_was_asked_for() -> None:
    packed = gzip.compress(token("Yes.") + finish() + usage() + DONE)
    with upstream([head(Content_Encoding="gzip"), *one_by_one(packed)]) as server:
        heard = await hear(model_at(server))
    assert server.requests[0].headers["accept-encoding"] == "identity"
    assert heard.text == "Yes."
    assert heard.finished == Finished(reason=StopReason.STOP, usage=USED)


async def test_a_reply_that_unpacks_to_gigabytes_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chats.generation.openai_compatible.clients.RESPONSE_MAX_BYTES", 3_000_000)
    packed = gzip.compress(b": x\n\n" * 1_000_000)
    with upstream([head(Content_Encoding="gzip"), packed]) as server:
        heard = await hear(model_at(server))
    assert isinstance(heard.failure, ModelError)


@pytest.mark.parametrize(
    "faulty",
    [b"data: {broken\n\n", frame({"error": {"message": "late"}}), b"data: \xff\n\n"],
    ids=["broken", "error", "not UTF-8"],
)
async def test_what_goes_wrong_after_the_finish_reason_spoils_nothing(faulty: bytes) -> None:
    with upstream([HEAD, token("Yes."), finish(), faulty]) as server:
        heard = await hear(model_at(server))
    assert heard.finished == Finished(reason=StopReason.STOP)


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("length", StopReason.LENGTH),
        ("max_tokens", StopReason.LENGTH),
        ("MAX_TOKENS", StopReason.LENGTH),
        ("STOP", StopReason.STOP),
        ("eos_token", StopReason.STOP),
    ],
)
async def test_the_token_limit_and_the_end_are_told_apart_in_every_dialect(
    reason: str, expected: StopReason
) -> None:
    with upstream(answer("One", reason=reason)) as server:
        heard = await hear(model_at(server))
    assert heard.finished == Finished(reason=expected)


async def test_comments_empty_data_and_missing_spaces_are_tolerated() -> None:
    noise = b": PROCESSING\n\ndata:\n\nevent: ping\n\nid: 1\n\n\r\n\r\n"
    tight = token("Yes").replace(b"data: ", b"data:")
    with upstream([HEAD, noise, tight, noise, token("."), noise, finish(), noise]) as server:
        heard = await hear(model_at(server))
    assert heard.texts == ["Yes", "."]
    assert heard.finished is not None


async def test_bytes_that_come_one_by_one_give_the_same_tokens() -> None:
    said = frame({"choices": [{"delta": {"content": "Grüße 😀\u2028."}}]}).decode()
    plain = json.dumps(json.loads(said[6:]), ensure_ascii=False)
    raw = f"data: {plain}\r\n\r\n".encode()
    with upstream([HEAD, *one_by_one(raw, finish(), DONE)]) as server:
        heard = await hear(model_at(server))
    assert heard.texts == ["Grüße 😀\u2028."]


async def test_a_surrogate_pair_that_two_chunks_share_is_one_character() -> None:
    with upstream([HEAD, token("a\ud83d"), token("\ude00b"), finish()]) as server:
        heard = await hear(model_at(server))
    assert heard.text == "a😀b"


@pytest.mark.parametrize(
    "chunks",
    [
        [frame({"choices": [], "prompt_filter_results": []}), token("Yes."), finish()],
        [chunk(None), token("Yes."), chunk(None, "stop")],
        [frame({"choices": None}), frame({"id": "x"}), token("Yes."), finish("stop")],
        [chunk({"content": "Yes."}, ""), finish()],
        [chunk({"content": "Ye"}, "null"), chunk({"content": "s."}, "null"), finish()],
        [token("Yes."), frame({"choices": [{"index": 1, "delta": {"content": "No."}}]}), finish()],
    ],
    ids=[
        "filters",
        "null delta",
        "no choices",
        "empty reason",
        "null in quotes",
        "second alternative",
    ],
)
async def test_oddities_of_servers_are_tolerated(chunks: list[bytes]) -> None:
    with upstream([HEAD, *chunks, DONE]) as server:
        heard = await hear(model_at(server))
    assert heard.text == "Yes."
    assert heard.finished is not None


async def test_a_refusal_in_its_own_field_is_what_the_model_says() -> None:
    with upstream([HEAD, chunk({"refusal": "I cannot."}), finish(), DONE]) as server:
        assert (await hear(model_at(server))).text == "I cannot."


async def test_a_server_that_does_not_stream_is_understood() -> None:
    whole = {
        "choices": [{"message": {"content": "Yes."}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2},
    }
    body = json.dumps(whole, indent=1).encode()
    start = head(content_type="application/json", Content_Length=len(body))
    with upstream([start, body, KEEP]) as server:
        heard = await hear(model_at(server))
    assert heard.texts == ["Yes."]
    assert heard.finished == Finished(reason=StopReason.STOP, usage=USED)


async def test_a_reply_read_to_its_end_leaves_the_connection_for_the_next() -> None:
    said = [chunked(part) for part in (token("Yes."), finish(), usage(), DONE)]
    with upstream([CHUNKED_HEAD, *said, LAST_CHUNK, KEEP]) as server:
        model = model_at(server)
        for _ in range(3):
            assert (await hear(model)).text == "Yes."
        assert server.connections == 1


async def test_an_answer_without_bounds_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chats.generation.openai_compatible.reading.ANSWER_MAX_CHARS", 10)
    with upstream(answer("12345", "12345", "1")) as server:
        heard = await hear(model_at(server))
    assert heard.text == "1234512345"
    assert isinstance(heard.failure, ModelError)


async def test_a_response_without_bounds_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chats.generation.openai_compatible.clients.RESPONSE_MAX_BYTES", 500)
    with upstream([HEAD, token("One"), b": " + b"x" * 1_000 + b"\n\n", token("two")]) as server:
        heard = await hear(model_at(server))
    assert isinstance(heard.failure, ModelError)
