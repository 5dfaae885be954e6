"""The example client against a real server over indexed pages."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.chats.corpus import BASE, index_pages_of
from tests.chats.live_parts import env
from tests.live import ROOT, Server, ServerFactory


def run_example(server: Server, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "examples/asking.py", "--server", server.url, *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=30)


@pytest.mark.parametrize("options", [[], ["--async"]], ids=["plain", "on an event loop"])
def test_it_asks_a_question_and_a_follow_up(
    real_server: ServerFactory, tmp_path: Path, options: list[str]
) -> None:
    server = real_server(env=env())
    index_pages_of(server, tmp_path)
    done = run_example(server, *options, "Who was Augustin Fresnel?", "And what did he invent?")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("(stop)") == 2
    assert done.stdout.count(f"[1] Lighthouses\n    {BASE}lighthouses.html#:~:text=") == 2
    assert "Augustin Fresnel invented a lens of many thin rings. [1]" in done.stdout
    chats, messages = server.sql("select count(distinct chat_id), count(*) from chats_message")[0]
    assert (chats, messages) == (1, 4)


def test_it_tells_what_is_wrong(real_server: ServerFactory) -> None:
    server = real_server(env=env())
    refused = run_example(server, "Why?", "--chat", "nonsense")
    assert refused.returncode == 1
    assert refused.stderr == "404 CHAT_NOT_FOUND: There is no such chat.\n"
    server.kill()
    unreachable = run_example(server, "Why?")
    assert unreachable.returncode == 1
    assert unreachable.stderr.startswith("The server is not reachable")
