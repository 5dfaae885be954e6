"""Environment → settings, in a process of its own each."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.live import ROOT, environment

PRINT = """
import json, sys
from django.conf import settings
print(json.dumps({name: getattr(settings, name) for name in sys.argv[1:]}, default=str))
"""


@pytest.fixture
def settings_of(tmp_path: Path) -> Any:
    def read(env: dict[str, str], *names: str) -> dict[str, Any]:
        output = subprocess.check_output(
            [sys.executable, "-W", "error", "-c", PRINT, *names],
            cwd=ROOT,
            env=environment(tmp_path / "var", "fastrag_site.settings", env),
        )
        found: dict[str, Any] = json.loads(output)
        return found

    return read


def test_the_defaults_are_closed_and_kept_in_the_var_folder(
    settings_of: Any, tmp_path: Path
) -> None:
    found = settings_of({"SECRET_KEY": ""}, "DEBUG", "ALLOWED_HOSTS", "SECRET_KEY", "FASTRAG")
    assert found["DEBUG"] is False
    assert found["ALLOWED_HOSTS"] == ["localhost", "127.0.0.1", "[::1]"]
    assert found["FASTRAG"] == {}
    kept = tmp_path / "var" / "secret_key"
    assert found["SECRET_KEY"] == kept.read_text()
    assert kept.stat().st_mode & 0o077 == 0
    assert settings_of({"SECRET_KEY": ""}, "SECRET_KEY")["SECRET_KEY"] == found["SECRET_KEY"]


def test_every_key_of_ours_has_the_type_of_its_default(settings_of: Any) -> None:
    env = {
        "FASTRAG_ALLOW_ANONYMOUS": "false",
        "FASTRAG_KEEPALIVE_SECONDS": "2.5",
        "FASTRAG_CRAWL_DEPTH": "3",
        "FASTRAG_CRAWL_USER_AGENT": "me",
        "FASTRAG_CHAT_MODEL": '{"BACKEND": "a.B", "OPTIONS": {"c": 1}}',
    }
    assert settings_of(env, "FASTRAG")["FASTRAG"] == {
        "ALLOW_ANONYMOUS": False,
        "KEEPALIVE_SECONDS": 2.5,
        "CRAWL_DEPTH": 3,
        "CRAWL_USER_AGENT": "me",
        "CHAT_MODEL": {"BACKEND": "a.B", "OPTIONS": {"c": 1}},
    }


def test_https_makes_cookies_secure_and_sends_browsers_there(settings_of: Any) -> None:
    names = ("SESSION_COOKIE_SECURE", "CSRF_COOKIE_SECURE", "SECURE_SSL_REDIRECT")
    assert set(settings_of({"HTTPS": "true"}, *names).values()) == {True}
    assert set(settings_of({}, *names).values()) == {False}


def test_postgresql_is_pooled_and_keeps_the_options_of_its_url(settings_of: Any) -> None:
    env = {"DATABASE_URL": "postgres://u:p@db.example/x?sslmode=require", "DATABASE_POOL": "7"}
    options = settings_of(env, "DATABASES")["DATABASES"]["default"]["OPTIONS"]
    assert options["pool"]["max_size"] == 7
    assert options["sslmode"] == "require"


def test_a_shared_cache_can_be_named(settings_of: Any) -> None:
    caches = settings_of({"CACHE_URL": "dbcache://counters"}, "CACHES")["CACHES"]
    assert caches["default"]["LOCATION"] == "counters"


def test_an_empty_variable_of_the_deployment_is_unset(settings_of: Any) -> None:
    given = ("DATABASE_URL", "CACHE_URL", "ALLOWED_HOSTS", "HTTPS", "LOG_LEVEL", "DATABASE_POOL")
    seen = ("DATABASES", "CACHES", "ALLOWED_HOSTS", "SECURE_HSTS_SECONDS", "LOGGING")
    empty = dict.fromkeys((*given, "SECURE_HSTS_SECONDS"), "")
    assert settings_of(empty, *seen) == settings_of({}, *seen)


@pytest.mark.parametrize("empty", ["", " "])
def test_an_empty_data_folder_is_the_default_one(settings_of: Any, empty: str) -> None:
    folder = settings_of({"FASTRAG_VAR_DIR": empty}, "VAR_DIR")["VAR_DIR"]
    assert folder == str(ROOT / "var")
    assert not (ROOT / "secret_key").exists()


def test_an_empty_value_is_the_default(settings_of: Any) -> None:
    names = ("CHAT_TEMPERATURE", "CHAT_CONTEXT_WINDOW", "CHAT_EXTRA_BODY", "ALLOW_ANONYMOUS")
    env = {f"FASTRAG_{name}": "" for name in names} | {"FASTRAG_CHAT_API_KEY": ""}
    env |= {"FASTRAG_CRAWL_USER_AGENT": ""}
    assert settings_of(env, "FASTRAG")["FASTRAG"] == {}
