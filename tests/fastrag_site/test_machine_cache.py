"""The cache that the processes of one machine share."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from fastrag_site.machine_cache import MachineCache
from tests.live import ROOT

COUNTS = """
import sys
from fastrag_site.machine_cache import MachineCache
cache = MachineCache(sys.argv[1], {})
for _ in range(100):
    cache.add("n", 0)
    cache.incr("n")
"""


@pytest.fixture
def cache(tmp_path: Path) -> MachineCache:
    return MachineCache(str(tmp_path / "cache.sqlite3"), {})


def test_what_is_set_is_read_until_it_expires(cache: MachineCache) -> None:
    assert cache.get("a") is None and cache.get("a", 7) == 7
    cache.set("a", {"b": [1, "x"]})
    assert cache.get("a") == {"b": [1, "x"]}
    cache.set("a", 1, timeout=0)
    assert cache.get("a") is None
    cache.set("a", 2, timeout=None)
    assert cache.get("a") == 2 and cache.touch("a", 0) and not cache.touch("a")


def test_a_key_is_added_once_and_again_when_it_has_expired(cache: MachineCache) -> None:
    assert cache.add("a", 1) and not cache.add("a", 2)
    assert cache.get("a") == 1
    cache.touch("a", 0)
    assert cache.add("a", 3) and cache.get("a") == 3


def test_a_count_goes_up_and_down(cache: MachineCache) -> None:
    with pytest.raises(ValueError, match="not found"):
        cache.incr("a")
    cache.set("a", 5)
    assert (cache.incr("a"), cache.incr("a", 3), cache.decr("a")) == (6, 9, 8)
    assert cache.delete("a") and not cache.delete("a")


def test_no_count_is_lost_between_threads_and_processes(
    cache: MachineCache, tmp_path: Path
) -> None:
    cache.set("n", 0)
    command = [sys.executable, "-c", COUNTS, str(tmp_path / "cache.sqlite3")]
    with ThreadPoolExecutor(4) as pool:
        others = [pool.submit(subprocess.run, command, cwd=ROOT, check=True) for _ in range(2)]
        ours = [pool.submit(lambda: [cache.incr("n") for _ in range(100)]) for _ in range(2)]
        for done in (*others, *ours):
            done.result()
    assert cache.get("n") == 400


def test_what_has_expired_is_swept_with_new_keys(
    cache: MachineCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fastrag_site.machine_cache.SWEPT", 1.0)
    for number in range(10):
        cache.set(f"old-{number}", number, timeout=0)
    cache.add("new", 1)
    assert cache._run("SELECT count(*) FROM entry") == [(1,)]
