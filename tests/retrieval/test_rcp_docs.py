"""The examples of docs/rcp.md, run as they stand against a real server."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from retrieval import rcp
from retrieval.handlers.server import HANDLERS
from retrieval.pipeline.restrict import FIELDS
from tests.live import ROOT, Server, copied, environment, serve
from tests.retrieval.rcp import schema

TEXT = (ROOT / "docs" / "rcp.md").read_text()
SECTIONS = dict(re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", TEXT, re.MULTILINE | re.DOTALL))
PAGE = "# Index a site\n\nTo index a site, run the sync command with its address.\n"


@pytest.fixture(scope="module")
def site(
    migrated_var_dir: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Server, dict[str, str]]]:
    """A server with one indexed page, and the environment of its commands."""
    var_dir = copied(migrated_var_dir, tmp_path_factory)
    folder = tmp_path_factory.mktemp("pages")
    (folder / "page.md").write_text(PAGE)
    env = environment(var_dir, "fastrag_site.settings", None)
    env["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{env['PATH']}"
    command = ["python", "manage.py", "sync", str(folder), "--base-url", "https://docs.example/"]
    subprocess.run(command, cwd=ROOT, env=env, check=True, capture_output=True)
    with serve(var_dir) as server:
        yield server, env


def run(section: str, language: str, site: tuple[Server, dict[str, str]]) -> str:
    server, env = site
    (code,) = re.findall(rf"^```{language}\n(.*?)^```", SECTIONS[section], re.M | re.S)
    code = code.replace("http://127.0.0.1:8000", server.url)
    program = ["bash", "-euo", "pipefail", "-c"] if language == "bash" else ["python", "-c"]
    ran = subprocess.run(
        [*program, code], cwd=ROOT, env=env, capture_output=True, text=True, timeout=60
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


needs_curl = pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")


@needs_curl
def test_connecting_over_http(site: Any) -> None:
    reply = json.loads(run("Connect over HTTP", "bash", site))
    schema.check(reply, method="retrieve")
    assert reply["result"]["hits"][0]["citation"]["source"] == "https://docs.example/page.md"


@needs_curl
def test_streaming_progress(site: Any) -> None:
    events = run("Stream progress", "bash", site).strip().split("\n\n")
    assert all(event.startswith("data: ") and "\n" not in event for event in events)
    *frames, reply = (json.loads(event.removeprefix("data: ")) for event in events)
    stages = [frame["params"]["stage"] for frame in frames]
    named = re.findall(r"`([a-z:]+)`", SECTIONS["Stream progress"].split("The stages of")[1])
    assert stages == named[:7]
    assert reply["id"] == 2


def test_connecting_from_python(site: Any) -> None:
    output = run("Connect from Python", "python", site)
    assert "100% pack" in output
    assert "Index a site https://docs.example/page.md#:~:text=" in output


def test_connecting_over_stdio(site: Any) -> None:
    lines = run("Connect over stdio", "bash", site).splitlines()
    replies = {reply["id"]: reply for reply in map(json.loads, lines)}
    assert replies[0]["result"]["_meta"]["conformance"] == "L2"
    assert replies[1]["result"]["hits"]


@needs_curl
def test_adding_documents(site: Any) -> None:
    reply = json.loads(run("Add documents", "bash", site))
    assert reply["result"] == {"ids": ["crane-1"], "chunks": 1}
    with rcp.connect_http(f"{site[0].url}/rcp") as client:
        (hit,) = client.retrieve("crane", 1, filter=rcp.filters.eq("team", "steel"))["hits"]
    assert hit["citation"]["uri"].startswith("https://plant.example/crane#:~:text=")


def test_the_tables_are_true(site: Any) -> None:
    with rcp.connect_http(f"{site[0].url}/rcp") as client:
        offered = client.capabilities
    table = SECTIONS["What the engine offers"]
    named = {name for row in re.findall(r"^\| (`.+?) \|", table, re.M) for name in words(row)}
    assert named == {*offered, "log"}
    fields = words(re.findall(r"^\| `filter` \| (.*?), and those", table, re.M)[0])
    assert set(fields) == set(FIELDS)
    assert offered["retrieve"]["maxK"] == 100
    assert offered["embed"]["batchLimit"] == 64
    assert offered["session"]["ttlSeconds"] == 30 * 60
    assert {"retrieve", "index/add", "index/delete", "feedback"} <= set(HANDLERS)


def words(cell: str) -> list[str]:
    return re.findall(r"`(\w+)`", cell)
