"""A stdio server whose handlers write to stdout in every way there is."""

from __future__ import annotations

import ctypes
import logging
import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[4]))

from retrieval import rcp

server = rcp.Server()
server.set_info("noisy", "1")
server.advertise(rcp.Capability.Retrieve)
server.advertise(rcp.Capability.Streaming)
server.advertise(rcp.Capability.Log)


@server.stream("retrieve")
def retrieve(params: dict[str, Any]) -> Any:
    print("noise: print")
    sys.stdout.write("noise: no line end")
    sys.stdout.buffer.write(b"noise: bytes\n")
    assert sys.__stdout__ is not None
    sys.__stdout__.write("noise: the real one\n")
    os.write(1, b"noise: descriptor\n")
    libc = ctypes.CDLL(None)
    libc.puts(b"noise: C library")
    libc.fflush(None)
    subprocess.run(["echo", "noise: child process"], check=True)
    warnings.warn("noise: warning", stacklevel=1)
    logging.getLogger().error("noise: log")
    rcp.current_call().log("info", "asked", query=params["query"])
    yield rcp.Progress(0.5, "half")
    print("noise: again")
    left = sys.stdin.read()
    return {"hits": [], "stdin": left}


if __name__ == "__main__":
    logging.basicConfig(stream=sys.stdout)
    print("noise: before serving, not flushed", end="")
    server.serve_stdio()
    print("noise: after serving")
