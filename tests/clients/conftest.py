"""The clients under test: the TypeScript one in Node, the Python one with and without asyncio."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.clients.drivers import NODE, PACKAGE, Async, Driver, Sync, TypeScript


def tool(package: str, script: str) -> Path:
    found = PACKAGE / "node_modules" / package / "bin" / script
    if not found.exists():
        pytest.skip("`make clients` installs the compiler")
    return found


@pytest.fixture(scope="session")
def typescript(tmp_path_factory: pytest.TempPathFactory) -> TypeScript:
    """The TypeScript client, compiled."""
    dist = tmp_path_factory.mktemp("dist")
    (dist / "package.json").write_text('{"type": "module"}')
    command = [NODE, tool("typescript", "tsc"), "--outDir", dist]
    done = subprocess.run(command, cwd=PACKAGE, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout
    return TypeScript(dist)


@pytest.fixture(params=["typescript", "python", "python with asyncio"])
def driver(request: pytest.FixtureRequest) -> Driver:
    if request.param == "typescript":
        found: Driver = request.getfixturevalue("typescript")
        return found
    return Sync() if request.param == "python" else Async()
