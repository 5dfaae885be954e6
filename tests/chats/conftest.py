"""A server for the tests that only need an answer that goes on and on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.chats.live_parts import SLOW, env
from tests.live import Server, copied, serve


@pytest.fixture(scope="session")
def slow_server(
    migrated_var_dir: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    folder = copied(migrated_var_dir, tmp_path_factory)
    with serve(folder, env=env(SLOW, generations_per_owner=200)) as server:
        yield server
