"""Twenty searches at a time while a sync writes, on a SQLite file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.live import ROOT, copied, environment


def test_searches_beside_a_writer_never_fail_nor_find_what_is_gone(
    migrated_var_dir: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    var_dir = copied(migrated_var_dir, tmp_path_factory)
    done = subprocess.run(
        [sys.executable, "-m", "tests.retrieval.crowd"],
        cwd=ROOT,
        env=environment(var_dir, "fastrag_site.settings", None),
        capture_output=True,
        text=True,
        timeout=90,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) >= 20
