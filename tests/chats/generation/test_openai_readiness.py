"""What an operator is told: by `/readyz`, which asks the server, and by `manage.py check`."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.test import override_settings

from chats.generation.checks import check_chat_model, check_transport
from chats.generation.errors import UpstreamUnavailable
from chats.generation.openai_compatible import OpenAICompatibleModel, readiness
from fastrag_site.backends import load_backend
from fastrag_site.conf import OPENAI_COMPATIBLE, conf
from tests.chats.generation.openai_parts import KEY, model_at
from tests.upstream import STALL, Script, answer, error, head, nobody, upstream

BASE = {"CHAT_BASE_URL": "http://user:hunter2@127.0.0.1:9/v1", "CHAT_MODEL_NAME": "m"}


async def problem_at(server: Any, **options: Any) -> str:
    with pytest.raises(UpstreamUnavailable) as raised:
        await model_at(server, **options).ping()
    said = str(raised.value)
    assert "127.0.0.1" not in said
    assert KEY not in said
    return said


# Asking the server


async def test_a_server_that_lists_its_models_is_ready() -> None:
    with upstream() as server:
        await model_at(server).ping()
    assert server.requests[0].path == "/v1/models"
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("status", [403, 404, 405, 429])
async def test_a_server_that_does_not_list_models_is_ready(status: int) -> None:
    with upstream(models=error(status)) as server:
        await model_at(server).ping()


@pytest.mark.parametrize("body", [b"[]", b'{"data": 5}', b'{"data": [5]}', b"x", b""])
async def test_a_list_in_another_shape_is_no_problem(body: bytes) -> None:
    with upstream(models=[head(content_type="application/json"), body]) as server:
        await model_at(server).ping()


async def test_a_model_that_is_not_listed_is_warned_of_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with upstream() as server:
        model = model_at(server, model="misspelt")
        await model.ping()
        await model.ping()
    assert [record.getMessage() for record in caplog.records] == [
        "the server does not list a model named as in "
        "FASTRAG_CHAT_MODEL_NAME (or OPTIONS['model'] of FASTRAG_CHAT_MODEL)"
    ]


@pytest.mark.parametrize(
    ("models", "setting", "words"),
    [
        (error(401), "FASTRAG_CHAT_API_KEY", "does not accept the key (HTTP 401)"),
        (error(503), "FASTRAG_CHAT_BASE_URL", "answers HTTP 503"),
        (error(301, Location="/x"), "FASTRAG_CHAT_BASE_URL", "redirects (HTTP 301)"),
        ([], "FASTRAG_CHAT_BASE_URL", "no connection"),
    ],
)
async def test_a_problem_is_told_with_the_setting_to_look_at(
    models: Script, setting: str, words: str
) -> None:
    with upstream(models=models) as server:
        said = await problem_at(server)
    assert said.startswith(setting)
    assert words in said


ANY_LIST = [head(content_type="application/json"), b'{"data": [{"id": "scripted"}]}']


@pytest.mark.parametrize(
    ("refusal", "setting", "words"),
    [
        (error(401), "FASTRAG_CHAT_API_KEY", "does not accept the key"),
        (error(403), "FASTRAG_CHAT_API_KEY", "does not let the key use the model"),
        (error(404, b"404 page not found"), "FASTRAG_CHAT_BASE_URL", "is it …/v1?"),
        (error(405), "FASTRAG_CHAT_BASE_URL", "no chat completions"),
        (error(503), "FASTRAG_CHAT_BASE_URL", "answers HTTP 503"),
        *(
            (error(status, {"message": words}), "FASTRAG_CHAT_MODEL_NAME", "not know the model")
            for status, words in [
                (404, "The model `x` does not exist."),
                (404, 'model "x" not found, try pulling it first'),
                (400, "Invalid model name passed in model=x. Call `/v1/models` to view models."),
                (400, "x is not a valid model ID"),
                (400, "Model Not Exist"),
            ]
        ),
    ],
)
@pytest.mark.parametrize("models", [error(404), ANY_LIST], ids=["no list", "public list"])
async def test_what_a_list_of_models_does_not_tell_is_found_by_asking(
    models: Script, refusal: Script, setting: str, words: str
) -> None:
    with upstream(refusal, models=models) as server:
        said = await problem_at(server)
    assert said.startswith(setting)
    assert words in said


async def test_a_server_is_asked_for_one_token_until_it_has_answered_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    busy, yes = error(429, {"message": "no"}), answer("Yes.")
    with upstream(busy, [STALL], error(400, {"message": "no"}), yes, models=ANY_LIST) as server:
        model = model_at(server, extra_body={"top_k": 1})
        monkeypatch.setattr(readiness, "PING_SECONDS", 0.3)
        for _ in range(6):
            await model.ping()
    asked = [request.json for request in server.requests if request.path.endswith("/completions")]
    assert len(asked) == 4
    assert asked[0]["max_tokens"] == asked[0]["top_k"] == 1


async def test_a_refused_connection_is_told() -> None:
    with nobody() as base_url:
        said = await problem_at(base_url)
    assert said.startswith("FASTRAG_CHAT_BASE_URL")
    assert said.endswith("the connection is refused")


async def test_an_unknown_host_is_told() -> None:
    said = await problem_at("http://no-such-host.invalid/v1")
    assert said.startswith("FASTRAG_CHAT_BASE_URL")


async def test_a_server_without_tls_behind_https_is_told() -> None:
    with upstream() as server:
        said = await problem_at(server.base_url.replace("http:", "https:"))
    assert "does not speak TLS" in said


async def test_a_server_that_does_not_answer_is_told_in_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(readiness, "PING_SECONDS", 0.2)
    with upstream(models=[STALL]) as server:
        assert "no answer within" in await problem_at(server)


def test_a_probe_from_threads_asks_the_server_every_few_seconds_at_most() -> None:
    with upstream(models=error(503)) as server:
        model = model_at(server)
        for _ in range(5):
            with pytest.raises(UpstreamUnavailable):
                model.check()
        assert len(server.requests) == 1


async def test_a_probe_runs_beside_an_event_loop() -> None:
    with upstream() as server:
        await asyncio.to_thread(model_at(server).check)


# Settings


def test_the_address_alone_chooses_the_backend() -> None:
    with override_settings(FASTRAG=BASE):
        model = load_backend("chat_model")
    assert isinstance(model, OpenAICompatibleModel)
    assert model.identity == "openai-compatible:m"
    assert model.context_window == 8192


def test_options_go_before_site_settings() -> None:
    chosen = {**OPENAI_COMPATIBLE, "OPTIONS": {"model": "other", "temperature": 0.5}}
    site = {**BASE, "CHAT_MODEL": chosen, "CHAT_TEMPERATURE": 1, "CHAT_CONTEXT_WINDOW": 4096}
    with override_settings(FASTRAG=site):
        options = load_backend("chat_model").options
    assert (options.model, options.temperature, options.context_window) == ("other", 0.5, 4096)


def test_the_key_is_in_no_representation() -> None:
    with override_settings(FASTRAG={**BASE, "CHAT_API_KEY": KEY}):
        model = load_backend("chat_model")
        shown = f"{model!r} {model} {model.options!r} {model.options} {conf()!r}"
    assert KEY not in shown
    assert "hunter2" not in shown


WRONG = [
    ({"CHAT_BASE_URL": "127.0.0.1:9/v1"}, "FASTRAG_CHAT_BASE_URL"),
    ({"CHAT_BASE_URL": "http://[::1/v1"}, "FASTRAG_CHAT_BASE_URL"),
    ({"CHAT_BASE_URL": "http://h:99999/v1"}, "FASTRAG_CHAT_BASE_URL"),
    ({"CHAT_BASE_URL": "http://h/v1/chat/completions"}, "FASTRAG_CHAT_BASE_URL"),
    ({"CHAT_BASE_URL": "http://h/v1?key=s3cret"}, "FASTRAG_CHAT_BASE_URL"),
    ({"CHAT_MODEL_NAME": " "}, "FASTRAG_CHAT_MODEL_NAME"),
    ({"CHAT_MODEL_NAME": "m\nn"}, "FASTRAG_CHAT_MODEL_NAME"),
    ({"CHAT_API_KEY": "s3cret\nX-Header: 1"}, "FASTRAG_CHAT_API_KEY"),
    ({"CHAT_API_KEY": "s3cret’"}, "FASTRAG_CHAT_API_KEY"),
    ({"CHAT_TEMPERATURE": 3}, "FASTRAG_CHAT_TEMPERATURE"),
    ({"CHAT_CONTEXT_WINDOW": 1000}, "FASTRAG_CHAT_CONTEXT_WINDOW"),
    ({"CHAT_EXTRA_HEADERS": {"X Y": "s3cret"}}, "FASTRAG_CHAT_EXTRA_HEADERS"),
    ({"CHAT_EXTRA_HEADERS": {"X": 5}}, "FASTRAG_CHAT_EXTRA_HEADERS"),
    ({"CHAT_EXTRA_HEADERS": ["s3cret"]}, "FASTRAG_CHAT_EXTRA_HEADERS"),
    ({"CHAT_EXTRA_HEADERS": {"X": " s3cret"}}, "FASTRAG_CHAT_EXTRA_HEADERS"),
    ({"CHAT_EXTRA_HEADERS": {"X": "s3cret", "Content-Length": "5"}}, "FASTRAG_CHAT_EXTRA_HEADERS"),
    ({"CHAT_EXTRA_BODY": {"stream": False}}, "FASTRAG_CHAT_EXTRA_BODY"),
    ({"CHAT_EXTRA_BODY": "s3cret"}, "FASTRAG_CHAT_EXTRA_BODY"),
    ({"CHAT_EXTRA_BODY": {"s3cret": float("nan")}}, "FASTRAG_CHAT_EXTRA_BODY"),
    ({"CHAT_EXTRA_BODY": {"s3cret": "\ud800"}}, "FASTRAG_CHAT_EXTRA_BODY"),
    ({"CHAT_EXTRA_BODY": {"s3cret": {1, 2}}}, "FASTRAG_CHAT_EXTRA_BODY"),
]


@pytest.mark.parametrize(("wrong", "setting"), WRONG)
def test_a_wrong_setting_is_named_by_the_check_and_where_the_model_is_loaded(
    wrong: dict[str, Any], setting: str
) -> None:
    with override_settings(FASTRAG={**BASE, **wrong}):
        found = check_chat_model()
        with pytest.raises(ImproperlyConfigured) as raised:
            load_backend("chat_model")
    assert [problem.id for problem in found] == ["chats.E001"]
    for said in (found[0].msg, str(raised.value)):
        assert said.startswith(setting)
        assert "s3cret" not in said


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"max_tokens": 0}, "FASTRAG_ANSWER_MAX_TOKENS"),
        ({"retries": -1}, "OPTIONS['retries']"),
        ({"retries": True}, "OPTIONS['retries']"),
        ({"ask_usage": "no"}, "OPTIONS['ask_usage']"),
        ({"thinks_at_once": 1}, "OPTIONS['thinks_at_once']"),
        ({"connect_seconds": 0}, "OPTIONS['connect_seconds']"),
        ({"read_seconds": "x"}, "OPTIONS['read_seconds']"),
    ],
)
def test_a_wrong_option_is_named(options: dict[str, Any], name: str) -> None:
    chosen = {**OPENAI_COMPATIBLE, "OPTIONS": options}
    with override_settings(FASTRAG={**BASE, "CHAT_MODEL": chosen}):
        found = check_chat_model()
    assert [problem.msg.startswith(name) for problem in found] == [True]


def test_an_unknown_option_is_named() -> None:
    chosen = {**OPENAI_COMPATIBLE, "OPTIONS": {"modell": "m"}}
    with override_settings(FASTRAG={**BASE, "CHAT_MODEL": chosen}):
        assert [problem.id for problem in check_chat_model()] == ["chats.E002"]
        with pytest.raises(ImproperlyConfigured, match="modell"):
            load_backend("chat_model")


def test_good_settings_raise_no_check() -> None:
    for good in ({}, BASE, {**BASE, "CHAT_API_KEY": KEY, "CHAT_TEMPERATURE": 0}):
        with override_settings(FASTRAG=good):
            assert check_chat_model() == []
            assert check_transport() == []


def test_settings_that_have_no_effect_are_told() -> None:
    with override_settings(FASTRAG={"CHAT_MODEL_NAME": "m"}):
        assert [problem.id for problem in check_chat_model()] == ["chats.W004"]


def test_a_key_that_would_travel_openly_is_warned_of_in_deployment() -> None:
    with override_settings(FASTRAG={**BASE, "CHAT_BASE_URL": "http://models.example/v1"}):
        assert [problem.id for problem in check_transport()] == ["chats.W003"]
    with override_settings(FASTRAG={**BASE, "CHAT_BASE_URL": "https://models.example/v1"}):
        assert check_transport() == []


# Logs


@pytest.mark.parametrize("level", [logging.INFO, logging.DEBUG])
async def test_no_line_above_debug_holds_an_address_a_key_or_the_servers_words(
    level: int, caplog: pytest.LogCaptureFixture
) -> None:
    from tests.chats.generation.openai_parts import hear

    told = {"message": f"the upstream's words about {KEY}"}
    scripts = [error(401, told), error(500, told), error(500, told), answer("Yes.")]
    with caplog.at_level(level), upstream(*scripts) as server:
        model = model_at(server)
        for _ in range(2):
            heard = await hear(model)
            assert heard.failure is not None
            assert heard.failure.__suppress_context__, "a traceback would show the server's words"
        await model.ping()
    above = [record for record in caplog.records if record.levelno > logging.DEBUG]
    assert above, "the operator is told something"
    for record in above:
        said = record.getMessage()
        assert not any(word in said for word in (KEY, "127.0.0.1", "words", "http://"))
