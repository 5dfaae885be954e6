"""What every command of ours refuses before it begins, in processes of their own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.live import ROOT, environment

COMMANDS = [
    ("sync",),
    ("search", "keys"),
    ("ask", "Why?"),
    ("rcp",),
    ("sweep",),
    ("apikey", "list"),
]


def manage(
    var_dir: Path, *arguments: str | bytes, env: Mapping[str, str] | None = None
) -> tuple[int, str, str]:
    ran = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=environment(var_dir, "fastrag_site.settings", env),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    return ran.returncode, ran.stdout, ran.stderr


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_a_database_without_tables_is_said_in_one_line(
    tmp_path: Path, command: tuple[str, ...]
) -> None:
    message = "CommandError: The database is not prepared: run manage.py migrate.\n"
    assert manage(tmp_path / "var", *command) == (1, "", message)


def test_a_database_out_of_reach_is_said_in_one_line(tmp_path: Path) -> None:
    nowhere = {"DATABASE_URL": f"sqlite:///{tmp_path}/missing/fastrag.sqlite3"}
    message = "CommandError: The database is unreachable; see DATABASE_URL.\n"
    assert manage(tmp_path / "var", "sweep", env=nowhere) == (1, "", message)


@pytest.mark.parametrize("command", ["ask", "search", "sync"])
def test_an_argument_that_is_no_text_is_refused(tmp_path: Path, command: str) -> None:
    message = "CommandError: An argument is not valid UTF-8.\n"
    assert manage(tmp_path / "var", command, b"\xff\xfe") == (1, "", message)
