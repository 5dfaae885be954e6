from __future__ import annotations

import subprocess
import sys

import pytest

from chats import workers

pytestmark = pytest.mark.skipif(not workers.this_worker(), reason="tells processes apart by /proc")


def worker_of(process_id: int) -> str:
    return workers._name_of(process_id)


def test_this_process_is_not_dead() -> None:
    assert not workers.is_dead(workers.this_worker())


def test_a_process_that_ended_is_dead() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        worker = worker_of(process.pid)
        assert not workers.is_dead(worker)
        process.kill()
        process.wait()
        assert workers.is_dead(worker)


def test_another_process_with_the_same_id_is_not_the_same_worker() -> None:
    place, process_id, started = workers.this_worker().split(":")
    assert workers.is_dead(f"{place}:{process_id}:{int(started) - 1}")


@pytest.mark.parametrize("worker", ["", "elsewhere:1:1", "nonsense", ":::"])
def test_nothing_is_known_of_other_machines(worker: str) -> None:
    assert not workers.is_dead(worker)
