"""Fixtures for every folder of tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.core.cache import cache

from fastrag_site import shutdown
from tests.live import migrated_var_dir, real_server
from tests.postgres import postgres_url

__all__ = ["migrated_var_dir", "postgres_url", "real_server"]


@pytest.fixture(autouse=True)
def nothing_left_behind() -> Iterator[None]:
    """Rate limits and the draining signal live in the process, not in the database."""
    yield
    cache.clear()
    shutdown.reset()


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """With `--last-failed --last-failed-no-failures none`, nothing to run again is no fault.

    A run that broke off before its end has left no list of tests: that still is one.
    """
    config = session.config
    again = config.getoption("last_failed_no_failures", None) == "none"
    cache = getattr(config, "cache", None)
    ended = cache is not None and bool(cache.get("cache/nodeids", []))
    if again and ended and exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
        session.exitstatus = pytest.ExitCode.OK
