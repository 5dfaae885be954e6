"""System checks name the setting that is wrong."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.checks import run_checks
from django.test import override_settings

from fastrag_site.checks import check_deployment, check_fastrag

MODEL = "tests.fastrag_site.test_health.Reachable"
SOUND: dict[str, Any] = {"CHAT_MODEL": {"BACKEND": MODEL}, "EMBEDDER": None}


def problems(**fastrag: Any) -> list[tuple[str | None, str]]:
    with override_settings(FASTRAG={**SOUND, **fastrag}):
        return [(problem.id, problem.msg) for problem in check_fastrag()]


def test_sound_settings_have_no_problems() -> None:
    assert problems() == []


@pytest.mark.parametrize("origin", ["https://*.example.org", "http://localhost:8080"])
def test_sites_and_all_below_them_may_show_the_widget(origin: str) -> None:
    assert problems(WIDGET_ORIGINS=[origin]) == []


def test_the_shipped_defaults_have_no_problems() -> None:
    assert run_checks() == []


@pytest.mark.parametrize(
    ("fastrag", "identity", "named"),
    [
        ({"NO_SUCH_KEY": 1}, "fastrag.E001", "NO_SUCH_KEY"),
        ({"KEEPALIVE_SECONDS": "15"}, "fastrag.E002", "KEEPALIVE_SECONDS"),
        ({"CHATS_PER_OWNER": 1.5}, "fastrag.E002", "CHATS_PER_OWNER"),
        ({"CHATS_PER_OWNER": True}, "fastrag.E002", "CHATS_PER_OWNER"),
        ({"ALLOW_ANONYMOUS": 1}, "fastrag.E002", "ALLOW_ANONYMOUS"),
        ({"FUSION_ALPHA": 1.5}, "fastrag.E003", "FUSION_ALPHA"),
        ({"GENERATION_SECONDS": 0}, "fastrag.E003", "GENERATION_SECONDS"),
        ({"CRAWL_DEPTH": -1}, "fastrag.E003", "CRAWL_DEPTH"),
        ({"HEARTBEAT_GRACE": 6.0}, "fastrag.E004", "HEARTBEAT_GRACE"),
        ({"KEEPALIVE_SECONDS": 90.0}, "fastrag.W005", "KEEPALIVE_SECONDS"),
        ({"CHUNK_TARGET_WORDS": 300}, "fastrag.E006", "CHUNK_TARGET_WORDS"),
        ({"WIDGET_ORIGINS": "https://a.example"}, "fastrag.E002", "WIDGET_ORIGINS"),
        ({"WIDGET_ORIGINS": ["https://a.example/path"]}, "fastrag.E011", "WIDGET_ORIGINS"),
        ({"WIDGET_ORIGINS": ["*"]}, "fastrag.E011", "WIDGET_ORIGINS"),
        ({"WIDGET_ORIGINS": ["https://a.example; script-src *"]}, "fastrag.E011", "WIDGET_ORIGINS"),
        ({"CHAT_MODEL": {"BACKEND": "no.such.Model"}}, "fastrag.E007", "CHAT_MODEL"),
        ({"CHAT_MODEL": {"BACKEND": f"{MODEL}r"}}, "fastrag.E007", "CHAT_MODEL"),
        ({"CHAT_MODEL": {}}, "fastrag.E007", "CHAT_MODEL"),
        ({"CHAT_MODEL": None}, "fastrag.E007", "CHAT_MODEL"),
        ({"EMBEDDER": {"BACKEND": "no.such.Model"}}, "fastrag.E007", "EMBEDDER"),
        (
            {"CHAT_MODEL": {"BACKEND": MODEL, "OPTIONS": {"nam": "x"}}},
            "fastrag.E008",
            "CHAT_MODEL",
        ),
    ],
)
def test_a_wrong_setting_is_named(fastrag: dict[str, Any], identity: str, named: str) -> None:
    ((found, message),) = problems(**fastrag)
    assert found == identity
    assert named in message


@pytest.mark.parametrize("key", ["CRAWL_DEPTH", "CRAWL_RETRIES", "SHUTDOWN_GRACE_SECONDS"])
def test_zero_means_none_where_that_makes_sense(key: str) -> None:
    assert problems(**{key: 0}) == []


def test_right_options_are_taken() -> None:
    assert problems(CHAT_MODEL={"BACKEND": MODEL, "OPTIONS": {"name": "x"}}) == []


@pytest.mark.parametrize(("https", "count"), [(False, 1), (True, 0)])
def test_a_deployment_without_tls_is_warned(https: bool, count: int) -> None:
    with override_settings(HTTPS=https):
        assert len(check_deployment()) == count


@pytest.mark.parametrize("key", ["CHAT_API_KEY", "CHAT_BASE_URL"])
def test_no_check_prints_a_value_that_may_be_secret(key: str) -> None:
    with override_settings(FASTRAG={**SOUND, key: ["s3cret"]}):
        found = run_checks(include_deployment_checks=True)
    assert f"FASTRAG['{key}'] is of type list, not str." in [problem.msg for problem in found]
    assert "s3cret" not in " ".join(f"{problem.msg} {problem.hint}" for problem in found)


def test_the_checks_of_the_chat_model_are_registered() -> None:
    url = {"CHAT_BASE_URL": "http://models.example/v1"}
    with override_settings(FASTRAG={**url, "EMBEDDER": None}):
        found = run_checks()
    assert [problem.id for problem in found] == ["chats.E001"]
    assert found[0].msg.startswith("FASTRAG_CHAT_MODEL_NAME")
    with override_settings(FASTRAG={**url, "CHAT_MODEL_NAME": "m", "EMBEDDER": None}):
        deployed = run_checks(include_deployment_checks=True)
    assert "chats.W003" in [problem.id for problem in deployed]
