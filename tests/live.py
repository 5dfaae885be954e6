"""A real server for tests, as a subprocess on a free port with a scratch database.

    def test_…(real_server: ServerFactory) -> None:
        server = real_server()                       # uvicorn fastrag_site.asgi:application
        server = real_server(command="runserver")    # or "gunicorn"
        server = real_server(env={"FASTRAG_KEEPALIVE_SECONDS": "0.2"}, settings="tests.x.settings")
        with server.post("/api/chats", {"content": "Hello?"}) as stream:   # see tests.sse_client
            …
        server.sql("select finish_reason from chats_message")
        server.terminate() / server.kill()           # SIGTERM / SIGKILL; both return the exit code
        server.output()                              # what it printed so far
        again = real_server(var_dir=server.var_dir)  # after a crash, on the same database

The fixture comes from tests/conftest.py. The database is migrated once a test session and copied.
A server takes a second to start: where a module's tests can share one, give the module a fixture
of its own over `serve(copied(migrated_var_dir, tmp_path_factory), …)`.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pytest

from tests.sse_client import Stream, connect, send

ROOT = Path(__file__).resolve().parent.parent
START_SECONDS = 30.0
_ANNOUNCED = re.compile(r"(?:running on|Listening at:) http://127\.0\.0\.1:(\d+)")
_COMMANDS: dict[str, list[str]] = {
    "uvicorn": ["-m", "uvicorn", "fastrag_site.asgi:application", "--port", "0"],
    "runserver": ["manage.py", "runserver", "0"],
    "demo": ["manage.py", "demo"],
    "configured": ["-m", "gunicorn"],  # by gunicorn.conf.py alone
    "gunicorn": [
        *("-m", "gunicorn", "-k", "uvicorn_worker.UvicornWorker", "-b", "127.0.0.1:0"),
        *("--no-control-socket", "fastrag_site.asgi:application"),
    ],
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    process: subprocess.Popen[bytes]
    port: int
    var_dir: Path
    log: Path

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def get(self, path: str, **options: Any) -> Stream:
        return connect(self.port, "GET", path, **options)

    def post(
        self, path: str, body: Mapping[str, Any] | bytes | None = None, **options: Any
    ) -> Stream:
        return connect(self.port, "POST", path, body=body, **options)

    def send(self, path: str, method: str = "GET", **options: Any) -> socket.socket:
        """Send a request without waiting for the response."""
        return send(self.port, method, path, **options)

    def sql(self, query: str, *parameters: object) -> list[tuple[Any, ...]]:
        """Rows of the server's SQLite database."""
        database = sqlite3.connect(self.var_dir / "fastrag.sqlite3", timeout=10)
        try:
            return database.execute(query, parameters).fetchall()
        finally:
            database.close()

    def output(self) -> str:
        return self.log.read_text(errors="replace")

    def wait_for_output(self, text: str, *, times: int = 1, seconds: float = 10.0) -> None:
        until(lambda: self.output().count(text) >= times, seconds, f"{text!r} in the output")

    def terminate(self, seconds: float = 15.0) -> int:
        self.process.terminate()
        return self.process.wait(seconds)

    def kill(self) -> int:
        """SIGKILL to the server and everything it started."""
        os.killpg(self.process.pid, signal.SIGKILL)
        return self.process.wait(5)


class ServerFactory(Protocol):
    """`serve` on a copy of the migrated database (or on `var_dir`), stopped after the test."""

    def __call__(self, *, var_dir: Path | None = None, **options: Any) -> Server: ...


@contextmanager
def serve(
    var_dir: Path,
    *,
    command: str = "uvicorn",
    args: Sequence[str] = (),
    settings: str = "fastrag_site.settings",
    env: Mapping[str, str] | None = None,
    cwd: Path = ROOT,
) -> Iterator[Server]:
    """A running server; killed at the end where it still runs."""
    log = var_dir.parent / f"output-{time.monotonic_ns()}"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, *_COMMANDS[command], *args],
            cwd=cwd,
            env=environment(var_dir, settings, env),
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        yield Server(process=process, port=_port(process, log), var_dir=var_dir, log=log)
    finally:
        with suppress(ProcessLookupError):  # the group may outlive its first process
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(5)


def until(condition: Any, seconds: float, what: str) -> None:
    """Poll: for what another process does, which nothing here can wait on."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"after {seconds} s still no {what}"
        time.sleep(0.02)


@pytest.fixture(scope="session")
def migrated_var_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A var folder with a migrated, empty SQLite database. Copy it."""
    folder = tmp_path_factory.mktemp("migrated")
    subprocess.run(
        [sys.executable, "manage.py", "migrate", "--verbosity", "0"],
        cwd=ROOT,
        env=environment(folder, "fastrag_site.settings", None),
        check=True,
    )
    return folder


def copied(migrated_var_dir: Path, factory: pytest.TempPathFactory) -> Path:
    return Path(shutil.copytree(migrated_var_dir, factory.mktemp("live") / "var"))


@pytest.fixture
def real_server(
    migrated_var_dir: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ServerFactory]:
    with ExitStack() as stack:

        def start(*, var_dir: Path | None = None, **options: Any) -> Server:
            if var_dir is None:
                var_dir = copied(migrated_var_dir, tmp_path_factory)
            return stack.enter_context(serve(var_dir, **options))

        yield start


def environment(var_dir: Path, settings: str, extra: Mapping[str, str] | None) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("FASTRAG_", "DATABASE_"))}
    ours = {
        "DJANGO_SETTINGS_MODULE": settings,
        "FASTRAG_VAR_DIR": str(var_dir),
        "PYTHONUNBUFFERED": "1",
        "SECRET_KEY": "only-for-tests-" + "x" * 50,
    }
    return {**kept, **ours, **(extra or {})}


def _port(process: subprocess.Popen[bytes], log: Path) -> int:
    """The port that the server announces, once it listens; an early exit shows its output."""
    found: list[str] = []

    def announced() -> bool:
        text = log.read_text(errors="replace")
        assert process.poll() is None, f"the server did not start:\n{text}"
        found[:] = _ANNOUNCED.findall(text)
        return bool(found) and _listens(int(found[0]))

    until(announced, START_SECONDS, f"server; it printed to {log}")
    return int(found[0])


def _listens(port: int) -> bool:
    with socket.socket() as sock:
        return sock.connect_ex(("127.0.0.1", port)) == 0
