"""What a newcomer meets: `make demo`, then a question to it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.live import ROOT, Server, copied, serve


@pytest.fixture(scope="module")
def demo(migrated_var_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    var_dir = copied(migrated_var_dir, tmp_path_factory)
    with serve(var_dir, command="demo", args=["--port", port]) as server:
        yield server


def ask(server: Server, *questions: str) -> list[str]:
    """What examples/asking.py prints."""
    script = [sys.executable, "examples/asking.py", "--server", server.url, *questions]
    environment = {"PATH": os.environ["PATH"], "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        script, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60, check=True
    )
    return done.stdout.splitlines()


def test_the_question_of_the_readme_is_answered_from_the_documentation(demo: Server) -> None:
    printed = ask(demo, "How do I index a site?")
    assert any(f"{demo.url}/docs/indexing/#:~:text=" in line for line in printed)
    assert any("manage.py sync" in line and "[1]" in line for line in printed)
    assert printed[-1] == "(stop)"


def test_a_question_that_the_documentation_does_not_answer_is_said_to_be_unanswered(
    demo: Server,
) -> None:
    printed = ask(demo, "What is the capital of France?")
    assert not any("[1]" in line and "http" not in line for line in printed[-4:])
    assert any("not find an answer" in line for line in printed)


def test_a_cited_page_is_served(demo: Server) -> None:
    with demo.get("/docs/indexing/") as page:
        assert page.status == 200
