"""`manage.py rcp` as a child process: raw lines in, every line out parsed and checked."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.live import ROOT, environment
from tests.retrieval.rcp import schema

PATIENCE = 60.0


def argv(*options: str) -> list[str]:
    return [sys.executable, str(ROOT / "manage.py"), "rcp", *options]


class Process:
    """Requests by id; whatever comes on stdout has to be the protocol."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.lines: list[dict[str, Any]] = []  # all that came, in order
        self._methods: dict[Any, str] = {}
        self._replies: queue.Queue[dict[str, Any]] = queue.Queue()
        self._lock = threading.Lock()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def send(
        self, method: str, params: Mapping[str, Any] | None = None, *, id_: Any = None
    ) -> None:
        message = {"jsonrpc": "2.0", "method": method, "params": params or {}}
        if id_ is not None:
            message["id"] = id_
            self._methods[id_] = method
        self.write(json.dumps(message).encode() + b"\n")

    def write(self, data: bytes) -> None:
        assert self.process.stdin is not None
        with self._lock:
            self.process.stdin.write(data)
            self.process.stdin.flush()

    def reply(self) -> dict[str, Any]:
        """The next response, whichever request it answers."""
        reply = self._replies.get(timeout=PATIENCE)
        schema.check(reply, method=self._methods.get(reply["id"]))
        return reply

    def ask(self, method: str, params: Any = None, *, id_: Any = 1) -> Any:
        self.send(method, params, id_=id_)
        reply = self.reply()
        assert reply["id"] == id_
        return reply["result"] if "result" in reply else reply["error"]

    def end(self) -> int:
        """Close stdin; the exit code."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        code = self.process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        for message in self.lines:
            schema.check(message, method=self._methods.get(message.get("id")))
        return code

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            message = json.loads(line)
            self.lines.append(message)
            if "method" not in message:
                self._replies.put(message)


@contextmanager
def start(var_dir: Path, *options: str, env: Mapping[str, str] | None = None) -> Iterator[Process]:
    process = subprocess.Popen(
        argv(*options),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=ROOT,
        env={**os.environ, **environment(var_dir, "fastrag_site.settings", env)},
    )
    errors: list[bytes] = []
    assert process.stderr is not None
    reader = threading.Thread(target=lambda: errors.extend(process.stderr or ()), daemon=True)
    reader.start()
    try:
        yield Process(process)
    finally:
        process.kill()
        process.wait(PATIENCE)
        reader.join(PATIENCE)
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                stream.close()
