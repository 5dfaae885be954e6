"""The programs in docs/clients.md run as they are printed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.chats.corpus import index_pages_of
from tests.chats.live_parts import env
from tests.clients.drivers import NODE, TypeScript
from tests.live import ROOT, Server, copied, serve

PAGE = (ROOT / "docs" / "clients.md").read_text()
PROGRAMS = [
    (language, program)
    for language, program in re.findall(r"^```(js|python)\n(.*?)^```", PAGE, re.M | re.S)
]


@pytest.fixture(scope="module")
def site(migrated_var_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serve(copied(migrated_var_dir, tmp_path_factory), env=env()) as server:
        index_pages_of(server, tmp_path_factory.mktemp("pages"))
        yield server


def run(language: str, program: str, folder: Path) -> str:
    script = folder / f"program.{'mjs' if language == 'js' else 'py'}"
    script.write_text(program)
    done = subprocess.run(
        [NODE if language == "js" else sys.executable, script],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT / "clients" / "python")},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.parametrize(("language", "program"), PROGRAMS)
def test_a_program_does_what_the_page_says(
    language: str, program: str, site: Server, typescript: TypeScript, tmp_path: Path
) -> None:
    shutil.copytree(typescript.dist, tmp_path / "clients" / "typescript" / "dist")
    program = program.replace("http://127.0.0.1:8000", site.url)
    program = program.replace("How do I index a site?", "Who was Augustin Fresnel?")
    printed = run(language, program, tmp_path)
    if 'ask(" ")' in program:
        assert printed.startswith("400 VALIDATION_ERROR { content: [")
    else:
        assert "lens" in printed
    if "finish_reason" in program:
        assert "Lighthouses" in printed
        assert printed.endswith("(stop)\n")


def test_there_are_programs_in_both_languages() -> None:
    assert [language for language, _ in PROGRAMS] == ["js", "js", "python", "python"]
