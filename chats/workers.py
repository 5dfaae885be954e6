"""Which process writes an answer, and whether it still lives.

Above: services. A worker's name holds what tells processes apart on Linux: boot, process
namespace, process id and its start time. Elsewhere nothing is known, and heartbeats decide.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

_PROC = Path("/proc")


def this_worker() -> str:
    return _name_of(os.getpid())


@cache
def _name_of(process_id: int) -> str:
    started = _start_time(process_id)
    return f"{_place()}:{process_id}:{started}" if started else ""


def is_dead(worker: str) -> bool:
    """Whether that process is surely gone; False where this machine cannot tell."""
    place, _, process = worker.partition(":")
    process_id, _, started = process.partition(":")
    if not started or place != _place():
        return False
    return _start_time(int(process_id)) != started


@cache
def _place() -> str:
    """This boot of this machine, and this process namespace of it; "" unknown."""
    try:
        boot = (_PROC / "sys/kernel/random/boot_id").read_text().strip()
        return f"{boot}/{(_PROC / 'self/ns/pid').readlink()}".replace(":", "")
    except OSError:
        return ""


def _start_time(process_id: int) -> str:
    """In clock ticks since boot; "" when there is no such process."""
    try:
        stat = (_PROC / str(process_id) / "stat").read_text()
    except OSError:
        return ""
    # The second field, the command in parentheses, may itself hold spaces and parentheses.
    fields = stat.rpartition(")")[2].split()
    return "" if fields[0] in "ZX" else fields[19]
