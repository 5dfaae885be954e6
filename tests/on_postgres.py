"""Run the tests that use a database on PostgreSQL: `pytest -p tests.on_postgres`.

A plugin that is loaded before the settings are: it starts a server of this test session and names
it in DATABASE_URL. Tests that use no database, or a server of their own, are left to the other run.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.postgres import postgres_server

_stack = ExitStack()
_folder = Path(_stack.enter_context(tempfile.TemporaryDirectory(prefix="pg-")))
_folder.chmod(0o755)  # the server may run as another user
os.environ["DATABASE_URL"] = _stack.enter_context(postgres_server(_folder / "data"))

DATABASE_FIXTURES = {"db", "transactional_db", "django_db_setup"}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """After pytest-django has named the fixtures of each test."""
    needed = [item for item in items if _uses_database(item)]
    config.hook.pytest_deselected(items=[item for item in items if item not in set(needed)])
    items[:] = needed


def _uses_database(item: pytest.Item) -> bool:
    return item.get_closest_marker("django_db") is not None or bool(
        DATABASE_FIXTURES & set(getattr(item, "fixturenames", ()))
    )


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:  # of those that were asked for
        session.exitstatus = pytest.ExitCode.OK


def pytest_unconfigure() -> None:
    _stack.close()
