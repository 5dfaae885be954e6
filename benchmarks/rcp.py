"""Speed of the RCP servers, ours beside the independent SDK's, in one run on this machine.

    python benchmarks/rcp.py [--seconds 1.0] [--rounds 5] [--check]

A client is whoever waits for its answer before it asks again: on stdio 16 clients share the one
pipe, over HTTP each has its own connection, kept open where the server allows it. The servers take
turns in short rounds, so that a busy machine slows all of them alike; a line shows the round whose
ratio is the median of all, so its columns and its ratio belong together. `--check` fails below the
project's floors: 1.0 for one client, 3.0 for sixteen with a handler of 5 ms.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median, median_low
from typing import Any, Protocol

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.rcp_clients import Http, Stdio  # noqa: E402

FRAMES = 2_000  # of one request, to weigh a frame
FLOOR_OF_ONE = 1.0
FLOOR_OF_SIXTEEN = 3.0

# What each server runs, as a program: {delay} in seconds, {serve} the transport.
PROGRAM = """
import asyncio, sys, time
{importing}
s = rcp.Server()
s.set_info("benchmark", "1")
s.advertise(rcp.Capability.Retrieve, {{"maxK": 100}})
s.advertise(rcp.Capability.Streaming)
HIT = {{"id": "a", "score": 1.0, "text": "alpha"}}
def plain(params):
    if {delay}: time.sleep({delay})
    return {{"hits": [HIT]}}
async def on_loop(params):
    if {delay}: await asyncio.sleep({delay})
    return {{"hits": [HIT]}}
def frames(params):
    for n in range({frames}): yield rcp.Progress(n / {frames}, "stage")
    return {{"hits": []}}
s.on("retrieve", {handler})
s.{serve}
"""
OURS = "from retrieval import rcp"
THEIRS = "import rcp"


class Client(Protocol):
    def run(self, seconds: float, clients: int) -> list[float]:
        """Ask for a while; the latencies of all answers, in seconds."""
        ...

    def ask(self, message: dict[str, Any]) -> None:
        """One request, to its final answer."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    transport: str
    clients: int
    delay: float
    handler: str = "plain"  # of ours; the independent SDK runs plain functions alone
    floor: float | None = None

    @property
    def name(self) -> str:
        kind = "async" if self.handler == "on_loop" else "sync"
        work = f"{self.delay * 1000:g} ms" if self.delay else "trivial"
        clients = "1 client" if self.clients == 1 else f"{self.clients} clients"
        return f"{self.transport:<6}{clients:<12}{kind:<6}{work}"


CASES = (
    Case(transport="stdio", clients=1, delay=0.0, floor=FLOOR_OF_ONE),
    Case(transport="http", clients=1, delay=0.0, floor=FLOOR_OF_ONE),
    Case(transport="http", clients=1, delay=0.0, handler="on_loop", floor=FLOOR_OF_ONE),
    Case(transport="stdio", clients=16, delay=0.0),
    Case(transport="http", clients=16, delay=0.0),
    Case(transport="stdio", clients=16, delay=0.005, floor=FLOOR_OF_SIXTEEN),
    Case(transport="http", clients=16, delay=0.005, floor=FLOOR_OF_SIXTEEN),
    Case(transport="http", clients=16, delay=0.005, handler="on_loop", floor=FLOOR_OF_SIXTEEN),
)


@contextmanager
def serving(importing: str, transport: str, handler: str, delay: float) -> Iterator[Client]:
    """A server of either SDK in a process of its own, and a client that has shaken hands."""
    port = Http.free_port() if transport == "http" else 0
    program = PROGRAM.format(
        importing=importing,
        delay=delay,
        frames=FRAMES,
        handler=handler,
        serve=f"serve_http({port})" if port else "serve_stdio()",
    )
    with tempfile.TemporaryDirectory() as empty:
        process = subprocess.Popen(
            [sys.executable, "-c", program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT if importing == OURS else empty,  # both packages are called rcp somewhere
        )
        with process:
            try:
                client: Client = Http(port, process) if port else Stdio(process)
                about = {"protocolVersion": 1, "client": {"name": "bench"}}
                client.ask(message("initialize", about))
                yield client
            finally:
                process.kill()


def message(method: str, params: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 0, "method": method, "params": params}


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    rate: float  # answers a second
    p50: float  # seconds
    p99: float


def one_round(client: Client, seconds: float, clients: int) -> Round:
    begun = time.perf_counter()
    latencies = sorted(client.run(seconds, clients))
    took = time.perf_counter() - begun
    count = len(latencies)
    return Round(
        rate=count / took,
        p50=latencies[count // 2],
        p99=latencies[min(count - 1, count * 99 // 100)],
    )


def compare(case: Case, seconds: float, rounds: int) -> float:
    """Print one line of the table; returns how many times as fast ours is."""
    with ExitStack() as stack:
        ours = stack.enter_context(serving(OURS, case.transport, case.handler, case.delay))
        theirs = stack.enter_context(serving(THEIRS, case.transport, "plain", case.delay))
        one_round(ours, seconds / 4, case.clients)
        one_round(theirs, seconds / 4, case.clients)
        pairs = [
            (
                one_round(ours, seconds, case.clients),
                one_round(theirs, seconds, case.clients),
            )
            for _ in range(rounds)
        ]
    by_ratio = {mine.rate / other.rate: (mine, other) for mine, other in pairs}
    ratio = median_low(mine.rate / other.rate for mine, other in pairs)
    mine, other = by_ratio[ratio]
    print(f"{case.name:<32}", figures(mine), "|", figures(other), f"| {ratio:6.2f}x", flush=True)
    return ratio


def figures(of: Round) -> str:
    return f"{of.rate:>8,.0f} {of.p50 * 1000:>8.3f} {of.p99 * 1000:>8.3f}"


def frame_overhead(transport: str, rounds: int) -> float:
    """Seconds that one progress frame adds to its request."""
    params: dict[str, Any] = {"query": "q", "k": 1}
    followed = {**params, "_meta": {"progressToken": "t"}}
    with serving(OURS, transport, "frames", 0.0) as client:
        costs = []
        for _ in range(rounds):
            begun = time.perf_counter()
            client.ask(message("retrieve", params))
            drained = time.perf_counter()
            client.ask(message("retrieve", followed))
            costs.append((time.perf_counter() - drained - (drained - begun)) / FRAMES)
    return median(costs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seconds", type=float, default=1.0, help="of each round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--check", action="store_true", help="fail below the floors")
    options = parser.parse_args()
    threading.stack_size(256 * 1024)
    head = f"{'answers/s':>8} {'p50 ms':>8} {'p99 ms':>8}"
    print(f"{'':<32} {'ours':<26} | {'independent SDK':<26} |")
    print(f"{'':<32} {head} | {head} | ours/theirs")
    missed = []
    for case in CASES:
        ratio = compare(case, options.seconds, options.rounds)
        if case.floor is not None and ratio < case.floor:
            missed.append(f"{case.name}: {ratio:.2f}x, floor {case.floor}x")
    for transport in ("stdio", "http"):
        cost = frame_overhead(transport, options.rounds) * 1e6
        print(f"a progress frame over {transport}: {cost:.1f} µs", flush=True)
    if missed:
        print("below the floor:", *missed, sep="\n  ")
        raise SystemExit(options.check)


if __name__ == "__main__":
    main()
