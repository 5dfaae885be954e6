"""The TypeScript client: what is generated is what its sources say, and types narrow."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.clients.conftest import tool
from tests.clients.drivers import NODE, PACKAGE, TypeScript
from tests.live import ROOT

PAGE = ROOT / "chats" / "static" / "chats"
MEND = "run `make clients`, and commit"


def run(script: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [NODE, script, *arguments]
    return subprocess.run(command, cwd=PACKAGE, capture_output=True, text=True, timeout=120)


def test_the_types_are_those_of_the_openapi_document(tmp_path: Path) -> None:
    scripts = json.loads((PACKAGE / "package.json").read_text())["scripts"]
    command, *arguments = scripts["types"].split()
    made = tmp_path / "schema.ts"
    done = run(tool(command, "cli.js"), *arguments[:-1], made)
    assert done.returncode == 0, done.stderr
    assert made.read_text() == (PACKAGE / "src" / "schema.ts").read_text(), MEND


@pytest.mark.parametrize("name", ["stream", "decoder", "errors", "patience"])
def test_the_page_reads_streams_with_the_client(typescript: TypeScript, name: str) -> None:
    made = (typescript.dist / f"{name}.js").read_text()
    assert made == (PAGE / f"{name}.js").read_text(), MEND


def test_the_page_has_all_that_its_stream_reader_imports(typescript: TypeScript) -> None:
    made = (typescript.dist / "stream.js").read_text()
    imported = [line.split('"')[1] for line in made.splitlines() if line.startswith("import ")]
    assert imported
    assert [name for name in imported if not (PAGE / name).exists()] == []


def test_the_compiler_narrows_by_event_finish_reason_and_code() -> None:
    done = run(tool("typescript", "tsc"), "--project", "tsconfig.check.json")
    assert done.stdout == ""
    assert done.returncode == 0


@pytest.mark.parametrize(
    "wrong",
    [
        "if (event.event === 'delta') event.sources;",
        "if (event.event === 'message_end' && event.finish_reason === 'stop') event.error;",
        "if (event.event === 'message_stop') throw 0;",
        "if (event.event === 'message_end') event.error.code;",
    ],
)
def test_the_compiler_refuses(wrong: str, tmp_path: Path) -> None:
    source = tmp_path / "wrong.ts"
    events = PACKAGE / "src" / "events.js"
    source.write_text(
        f"import type {{ AnswerEvent }} from {str(events)!r};\n"
        f"export const read = (event: AnswerEvent) => {{ {wrong} }};\n"
    )
    options = ["--strict", "--noEmit", "--target", "es2022", "--module", "nodenext"]
    done = run(tool("typescript", "tsc"), *options, source)
    assert done.returncode != 0
    assert "wrong.ts(2," in done.stdout


def test_the_package_depends_on_nothing_and_holds_what_it_needs() -> None:
    package = json.loads((PACKAGE / "package.json").read_text())
    assert "dependencies" not in package
    npm = NODE.parent.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    environment = os.environ | {"PATH": f"{NODE.parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        [NODE, npm, "pack", "--dry-run", "--json", "--ignore-scripts"],
        cwd=PACKAGE, env=environment, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    (packed,) = json.loads(done.stdout)
    names = {file["path"] for file in packed["files"]}
    assert {"package.json", "README.md", "LICENSE"} <= names
    assert not [name for name in names if name.startswith(("src", "test", "node_modules"))]


def test_the_lock_file_names_versions_and_no_place_to_load_them_from() -> None:
    lock = json.loads((PACKAGE / "package-lock.json").read_text())
    assert [name for name, locked in lock["packages"].items() if "resolved" in locked] == []
    assert all("integrity" in locked for name, locked in lock["packages"].items() if name)
