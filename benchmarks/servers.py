"""Servers for benchmarks, as processes of their own, and what the system says of them.

Above: streaming, load, soak.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
START_SECONDS = 60.0
_TICKS = os.sysconf("SC_CLK_TCK")
_PROC = Path("/proc")


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A server; its workers are the leaves of its process tree."""

    process: subprocess.Popen[bytes]
    port: int
    log: Path

    def workers(self) -> list[int]:
        return _leaves(self.process.pid)

    def cpu_seconds(self) -> float:
        """User and system time of all its processes so far."""
        return sum(_cpu(pid) for pid in _tree(self.process.pid))

    def memory(self) -> int:
        """Resident bytes of all workers, without what they share with each other."""
        return sum(_private_bytes(pid) for pid in self.workers())

    def threads(self) -> int:
        return sum(len(list((_PROC / str(pid) / "task").iterdir())) for pid in self.workers())

    def files(self) -> int:
        return sum(len(list((_PROC / str(pid) / "fd").iterdir())) for pid in self.workers())


@contextmanager
def running(arguments: Sequence[str], *, env: Mapping[str, str] | None = None) -> Iterator[Running]:
    """`python <arguments>` with {port} filled in, once it listens; killed at the end."""
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                [sys.executable, *(part.format(port=port) for part in arguments)],
                cwd=ROOT,
                env=os.environ
                | {k: v.replace("{port}", str(port)) for k, v in (env or {}).items()},
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        try:
            _wait_for(port, process, log)
            yield Running(process=process, port=port, log=log)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(10)


def manage(*arguments: str, env: Mapping[str, str]) -> None:
    command = [sys.executable, "manage.py", *arguments]
    subprocess.run(command, cwd=ROOT, env=os.environ | env, check=True)


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def _wait_for(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        with socket.socket() as sock:
            if sock.connect_ex(("127.0.0.1", port)) == 0:
                return
        if process.poll() is not None or time.monotonic() > deadline:
            raise SystemExit(f"a server did not start:\n{log.read_text(errors='replace')}")
        time.sleep(0.05)


def _tree(pid: int) -> list[int]:
    return [pid, *(below for child in _children(pid) for below in _tree(child))]


def _leaves(pid: int) -> list[int]:
    children = _children(pid)
    return [leaf for child in children for leaf in _leaves(child)] if children else [pid]


def _children(pid: int) -> list[int]:
    try:
        return [int(child) for child in (_PROC / f"{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def _cpu(pid: int) -> float:
    try:
        fields = (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / _TICKS


def _private_bytes(pid: int) -> int:
    total = 0
    with suppress(OSError):
        for line in (_PROC / str(pid) / "smaps_rollup").read_text().splitlines():
            name, _, value = line.partition(":")
            if name in ("Private_Clean", "Private_Dirty"):
                total += int(value.split()[0]) * 1024
    return total
