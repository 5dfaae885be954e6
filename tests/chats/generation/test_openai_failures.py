"""Everything that can go wrong upstream, each with its code; what was said before it is kept."""

from __future__ import annotations

import tracemalloc
import zlib
from typing import Any

import pytest

from chats.generation.errors import (
    ContextTooLong,
    GenerationTimeout,
    ModelError,
    UpstreamUnavailable,
)
from chats.generation.openai_compatible.failures import failure_of_status, failure_told
from tests.chats.generation.openai_parts import hear, model_at, prompt
from tests.upstream import (
    CHUNKED_HEAD,
    DONE,
    HEAD,
    RESET,
    STALL,
    Forever,
    Script,
    answer,
    chunk,
    chunked,
    error,
    finish,
    frame,
    head,
    nobody,
    token,
    upstream,
)

FIVE = [token(f"{n} ") for n in range(5)]
SAID = "0 1 2 3 4 "


def frame_of_error(**told: Any) -> bytes:
    return frame({"error": told})


@pytest.mark.parametrize("start", [[HEAD], [CHUNKED_HEAD, b"0\r\n\r\n"]], ids=["plain", "chunked"])
async def test_a_stream_without_any_event_is_a_model_error(start: Script) -> None:
    with upstream(start) as server:
        heard = await hear(model_at(server))
    assert isinstance(heard.failure, ModelError)


async def test_a_stop_without_text_is_a_model_error() -> None:
    with upstream([HEAD, chunk({"content": "\n"}), finish("stop"), DONE]) as server:
        heard = await hear(model_at(server))
    assert isinstance(heard.failure, ModelError)


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ([HEAD, *FIVE], []),
        ([HEAD, *FIVE], [DONE]),
        ([HEAD, *FIVE], [RESET]),
        ([CHUNKED_HEAD, *map(chunked, FIVE)], []),
        ([CHUNKED_HEAD, *map(chunked, FIVE)], [RESET]),
        ([head(Content_Length=5_000), *FIVE], []),
        ([HEAD, *FIVE], [b'data: {"choices": [{"delta": {"con']),
        ([HEAD, *FIVE], [b"data: {broken\n\n", finish()]),
        ([HEAD, *FIVE], [b"data: [1]\n\n", finish()]),
        ([HEAD, *FIVE], [frame({"choices": "x"}), finish()]),
        ([HEAD, *FIVE], [frame({"choices": ["x"]}), finish()]),
        ([HEAD, *FIVE], [chunk("x"), finish()]),
        ([HEAD, *FIVE], [chunk({"content": 5}), finish()]),
        ([HEAD, *FIVE], [b"data: " + b"[" * 20_000 + b"\n\n", finish()]),
        ([HEAD, *FIVE], [finish("tool_calls"), DONE]),
        ([HEAD, *FIVE], [finish("content_filter"), DONE]),
        ([HEAD, *FIVE], [finish("never heard of"), DONE]),
    ],
    ids=[
        *("EOF", "DONE without a reason", "reset", "EOF in chunked", "reset in chunked"),
        *("EOF before the length", "EOF in a chunk", "broken JSON", "no object", "odd choices"),
        *("odd choice", "odd delta", "odd content", "deep nesting", "tools", "filter", "unknown"),
    ],
)
async def test_a_reply_that_breaks_off_is_a_model_error_and_what_was_said_is_kept(
    start: list[bytes], end: Script
) -> None:
    with upstream([*start, *end]) as server:
        heard = await hear(model_at(server))
    assert heard.text == SAID
    assert isinstance(heard.failure, ModelError)
    assert len(server.requests) == 1, "nothing is asked again after the first byte"


async def test_a_read_time_out_after_five_tokens_is_a_timeout_and_they_are_kept() -> None:
    with upstream([HEAD, *FIVE, STALL]) as server:
        heard = await hear(model_at(server, read_seconds=0.2))
    assert heard.text == SAID
    assert isinstance(heard.failure, GenerationTimeout)


async def test_a_read_time_out_before_the_head_is_a_timeout_and_is_not_tried_again() -> None:
    with upstream([STALL]) as server:
        heard = await hear(model_at(server, read_seconds=0.2))
    assert isinstance(heard.failure, GenerationTimeout)
    assert len(server.requests) == 1


async def test_a_refused_connection_is_service_unavailable() -> None:
    with nobody() as base_url:
        heard = await hear(model_at(base_url, retries=0))
    assert isinstance(heard.failure, UpstreamUnavailable)


async def test_a_server_that_closes_before_its_head_is_service_unavailable() -> None:
    with upstream([]) as server:
        heard = await hear(model_at(server))
    assert isinstance(heard.failure, UpstreamUnavailable)


async def test_something_that_does_not_speak_http_is_service_unavailable() -> None:
    with upstream([b"SSH-2.0-OpenSSH_9.2\r\n"]) as server:
        heard = await hear(model_at(server, retries=0))
    assert isinstance(heard.failure, UpstreamUnavailable)


async def test_a_page_instead_of_a_stream_is_a_model_error() -> None:
    page = b"<html><body>Welcome</body></html>"
    with upstream([head(content_type="text/html"), page]) as server:
        heard = await hear(model_at(server))
    assert isinstance(heard.failure, ModelError)


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        *((status, UpstreamUnavailable) for status in (429, 502, 503, 522, 529)),
        *((status, GenerationTimeout) for status in (408, 504)),
        *((status, ModelError) for status in (302, 400, 401, 402, 403, 404, 422, 500)),
        (413, ContextTooLong),
    ],
)
async def test_each_http_error_has_its_code(status: int, expected: type[Exception]) -> None:
    with upstream(error(status, {"message": "no"}, Location="http://127.0.0.1:9/")) as server:
        heard = await hear(model_at(server, retries=0))
    assert type(heard.failure) is expected


@pytest.mark.parametrize(
    "body", [b"", b"<html>", b"[]", b'"x"', b"null", b'{"error": "no"}', b"\xff"]
)
async def test_an_error_with_any_body_has_the_code_of_its_status(body: bytes) -> None:
    with upstream(error(503, body)) as server:
        heard = await hear(model_at(server, retries=0))
    assert isinstance(heard.failure, UpstreamUnavailable)


JSON = "application/json"


@pytest.mark.parametrize(
    "body",
    [
        [head(503, content_type=JSON, Content_Length=1_000), b'{"error":'],
        [head(503, content_type=JSON, Content_Length=1_000), b'{"error":', RESET],
        [head(503, content_type=JSON, Content_Length=1_000), b'{"error":', STALL],
        [head(503, content_type=JSON, Transfer_Encoding="chunked"), b"zz\r\n"],
        [head(503, content_type=JSON, Content_Encoding="gzip"), b'{"error":'],
        [head(503, content_type=JSON), Forever(b"x" * 10_000, every=0)],
        [head(503, content_type=JSON), Forever(b"x")],
    ],
    ids=["cut", "reset", "silent", "bad chunk", "not packed", "endless", "dripping"],
)
async def test_an_error_whose_body_breaks_off_has_the_code_of_its_status(
    body: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chats.generation.openai_compatible.clients.ERROR_BODY_SECONDS", 0.2)
    with upstream(body) as server:
        heard = await hear(model_at(server, retries=0))
    assert isinstance(heard.failure, UpstreamUnavailable)


async def test_an_error_that_unpacks_to_gigabytes_is_read_as_far_as_it_counts() -> None:
    packer = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    packed = packer.compress(b'{"error": {"code": "context_length_exceeded"}, "x": "')
    packed += b"".join(packer.compress(bytes(1_000_000)) for _ in range(50)) + packer.flush()
    with upstream([head(400, content_type=JSON, Content_Encoding="gzip"), packed]) as server:
        tracemalloc.start()
        heard = await hear(model_at(server))
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert isinstance(heard.failure, ContextTooLong)
    assert peak < 10_000_000


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ({"message": "no", "code": "rate_limit_exceeded"}, UpstreamUnavailable),
        ({"message": "Too Many Requests", "code": 429}, UpstreamUnavailable),
        ({"message": "no", "code": "503"}, UpstreamUnavailable),
        ({"message": "no", "type": "overloaded_error"}, UpstreamUnavailable),
        ({"message": "You exceeded your current quota"}, UpstreamUnavailable),
        ({"message": "no", "code": "context_length_exceeded"}, ContextTooLong),
        ({"message": "no", "type": "exceed_context_size_error", "code": 400}, ContextTooLong),
        ({"message": "CUDA error", "code": 500}, ModelError),
        ({"message": "Rate limit: no", "code": 401}, ModelError),
        ({"message": None, "code": True}, ModelError),
        ("Something broke", ModelError),
        (["odd"], ModelError),
    ],
)
async def test_an_error_frame_inside_a_good_stream_has_the_code_of_what_it_tells(
    told: object, expected: type[Exception]
) -> None:
    with upstream([HEAD, *FIVE, frame({"error": told}), finish(), DONE]) as server:
        heard = await hear(model_at(server))
    assert heard.text == SAID
    assert type(heard.failure) is expected


@pytest.mark.parametrize(
    "data",
    [
        b'event: error\ndata: {"message": "Rate limit reached"}\n\n',
        b'data: {"object": "error", "message": "Rate limit reached", "code": 429}\n\n',
        b'{"error": {"message": "Rate limit reached"}}',
    ],
    ids=["event: error", "object: error", "a document"],
)
async def test_errors_inside_a_200_are_seen_in_every_shape(data: bytes) -> None:
    with upstream([HEAD, data]) as server:
        heard = await hear(model_at(server))
    assert isinstance(heard.failure, UpstreamUnavailable)


async def test_an_error_frame_beats_the_finish_reason_beside_it() -> None:
    both = {"error": {"code": 502}, "choices": [{"delta": {}, "finish_reason": "error"}]}
    with upstream([HEAD, *FIVE, frame(both)]) as server:
        heard = await hear(model_at(server))
    assert isinstance(heard.failure, UpstreamUnavailable)


async def test_a_server_out_of_resources_is_service_unavailable() -> None:
    with upstream(answer("One", reason="insufficient_system_resource")) as server:
        heard = await hear(model_at(server))
    assert isinstance(heard.failure, UpstreamUnavailable)


CONTEXT_WORDINGS = [
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000.",
    "the request exceeds the available context size, try increasing it",
    "request (4476 tokens) exceeds the available context size (4096 tokens)",
    "Requested tokens (2100) exceed context window of 2048",
    "The input length exceeds the context length",
    "prompt is too long: 210000 tokens > 200000 maximum",
    "Input is too long for requested model.",
    "Please reduce the length of the messages or completion.",
    "The decoder prompt (length 9000) is longer than the maximum model length of 4096.",
    "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096",
    "This endpoint's maximum input length is 32000",
    "The input token count (40000) exceeds the maximum number of tokens allowed (32768).",
]


@pytest.mark.parametrize("status", [400, 422, 500])
@pytest.mark.parametrize("words", CONTEXT_WORDINGS)
def test_context_errors_are_known_by_their_wording(words: str, status: int) -> None:
    assert isinstance(failure_of_status(status, {"message": words}), ContextTooLong)
    assert isinstance(failure_told({"message": words}), ContextTooLong)


def test_a_context_error_inside_another_servers_error_is_seen() -> None:
    inner = '{"error":{"code":400,"type":"exceed_context_size_error","n_ctx":4096}}'
    told = {"message": inner, "type": "invalid_request_error", "code": None}
    assert isinstance(failure_of_status(400, told), ContextTooLong)


@pytest.mark.parametrize(
    "words",
    [
        "Rate limit reached on tokens per min (TPM): Limit 6000, Requested 9000.",
        "Request too large on tokens per minute (TPM), please reduce your message size",
    ],
)
def test_limits_per_minute_are_not_taken_for_the_context(words: str) -> None:
    assert isinstance(failure_of_status(429, {"message": words}), UpstreamUnavailable)


async def test_a_context_error_is_not_asked_again() -> None:
    with upstream(error(400, {"code": "context_length_exceeded", "message": "no"})) as server:
        heard = await hear(model_at(server))
    assert isinstance(heard.failure, ContextTooLong)
    assert len(server.requests) == 1


async def test_nothing_at_all_for_a_prompt_beyond_the_window_is_context_too_long() -> None:
    with upstream([HEAD]) as server:
        model = model_at(server, context_window=2_000, max_tokens=1_000)
        for words, expected in ((2_000, ContextTooLong), (100, ModelError)):
            heard = await hear(model, prompt("words " * words))
            assert type(heard.failure) is expected


def test_an_error_of_any_size_and_depth_is_looked_at_within_bounds() -> None:
    deep: dict[str, Any] = {}
    for _ in range(500):
        deep = {"x": deep, "y": ["z" * 100] * 100}
    assert isinstance(failure_of_status(400, deep), ModelError)
