"""The examples of the RCP SDK, run as a reader would run them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def run(name: str, *arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(EXAMPLES / name), *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )


def test_the_streaming_example_prints_the_lines_of_the_protocols_page(tmp_path: Path) -> None:
    done = run("example_streaming.py", cwd=tmp_path)
    assert done.stdout.splitlines()[:3] == [
        "progress  33%  recall:dense   partial=['d2', 'd5', 'd1']",
        "progress  66%  fuse:rrf       partial=['d2', 'd5', 'd1']",
        "progress 100%  rerank         partial=['d2', 'd5', 'd1']",
    ]
    assert done.stdout.splitlines()[3].startswith("final response frame: hits = ['d2', 'd5', 'd1']")
    assert done.stderr == ""


def test_the_stdio_example_searches_its_server_and_shows_progress(tmp_path: Path) -> None:
    done = run("stdio_progress.py", "retrieve", cwd=tmp_path)
    assert "grep-this-file answers over stdio" in done.stdout
    assert "def retrieve(params)" in done.stdout
    assert "100%  scan:" in done.stderr


def test_the_stdio_server_speaks_the_protocol_to_anyone(tmp_path: Path) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "info"}
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "stdio_server.py")],
        input=json.dumps(message),
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    assert json.loads(done.stdout)["result"]["server"]["name"] == "grep-this-file"
