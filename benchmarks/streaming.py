"""What a token costs on its way out, beside a bare ASGI app and FastAPI, in one run.

    python benchmarks/streaming.py [--streams 2] [--rounds 5] [--check]

A model without delay, one uvicorn worker each, 16 clients. The marginal cost of a token is the
difference between streams of 200 and of 2,000 tokens; ours has the model, the journal and the
storage in it. Whole streams of ours search and store as well. All is stated by the server's
processor time, which other work on the machine disturbs little, and by the clock. The servers take
turns in short rounds; a figure is the median of the rounds. `--check` fails below the floors.
"""

from __future__ import annotations

import argparse
import json
import shutil
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.servers import Running, manage, running  # noqa: E402

CLIENTS = 16
SHORT, LONG = 200, 2_000
FLOOR_OF_A_TOKEN = 1.0  # times the bare app's cost
FLOOR_OF_A_STREAM = 3.0  # times sse-starlette's frames a second
UVICORN = ("-m", "uvicorn", "--port", "{port}", "--log-level", "warning", "--no-access-log")
APPS = {
    "bare ASGI app": "benchmarks.streaming_apps:bare",
    "FastAPI StreamingResponse": "benchmarks.streaming_apps:streaming",
    "FastAPI with sse-starlette": "benchmarks.streaming_apps:starlette",
}
BARE, _, STARLETTE = APPS
OURS, OURS_YIELDING, OURS_WORDS = (
    "ours",
    "ours, model yields after each",
    "ours, search by words alone",
)
END = b"\r\n0\r\n\r\n"


@dataclass(slots=True)
class Seconds:
    """Of one round: for all streams together."""

    processor: float
    clock: float


@dataclass(slots=True)
class Times:
    short: list[Seconds] = field(default_factory=list)
    long: list[Seconds] = field(default_factory=list)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--streams", type=int, default=2, help="of each client a round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--check", action="store_true", help="fail below the floors")
    options = parser.parse_args()
    with ExitStack() as stack:
        servers = {name: stack.enter_context(running((*UVICORN, APPS[name]))) for name in APPS}
        indexed = stack.enter_context(_indexed())
        servers |= {name: stack.enter_context(_ours(name, indexed)) for name in _MODELS}
        times = _measure(servers, options.rounds, options.streams)
    streams = CLIENTS * options.streams
    missed = _report(times, streams)
    if missed:
        print("below the floor:", *missed, sep="\n  ")
        raise SystemExit(options.check)


def _measure(servers: dict[str, Running], rounds: int, streams: int) -> dict[str, Times]:
    cookies = {
        name: _cookies(server) if name in _MODELS else [] for name, server in servers.items()
    }
    times = {name: Times() for name in servers}
    for number in range(rounds + 1):
        for name, server in servers.items():
            for tokens, into in ((SHORT, times[name].short), (LONG, times[name].long)):
                seconds = _run(server, tokens, streams, cookies[name])
                if number:  # the first round warms up
                    into.append(seconds)
    return times


def _report(times: dict[str, Times], streams: int) -> list[str]:
    tokens = streams * (LONG - SHORT)
    print(f"{'':<32} {'µs a token':^21} | {'whole streams, frames/s':^21}")
    print(f"{'':<32} {'processor':>10} {'clock':>10} | {'processor':>10} {'clock':>10}")
    cost: dict[str, tuple[float, float]] = {}
    rate: dict[str, tuple[float, float]] = {}
    for name, one in times.items():
        pairs = list(zip(one.short, one.long, strict=True))
        cost[name] = (
            median(long.processor - short.processor for short, long in pairs) / tokens,
            median(long.clock - short.clock for short, long in pairs) / tokens,
        )
        rate[name] = (
            streams * LONG / median(long.processor for long in one.long),
            streams * LONG / median(long.clock for long in one.long),
        )
        told = (*(f"{seconds * 1e6:>10.2f}" for seconds in cost[name]), "|")
        print(f"{name:<32}", *told, *(f"{frames:>10,.0f}" for frames in rate[name]), flush=True)
    missed = []
    for at, kind in enumerate(("processor", "clock")):
        token = cost[BARE][at] / cost[OURS][at]
        stream = rate[OURS][at] / rate[STARLETTE][at]
        print(f"by {kind}: a token of the bare app / ours {token:.2f}", end="; ")
        print(f"frames/s of ours / sse-starlette {stream:.2f}")
        if token < FLOOR_OF_A_TOKEN:
            missed.append(f"a token by {kind}: {token:.2f}, floor {FLOOR_OF_A_TOKEN}")
        if stream < FLOOR_OF_A_STREAM:
            missed.append(f"whole streams by {kind}: {stream:.2f}, floor {FLOOR_OF_A_STREAM}")
    return missed


# Ours

_MODELS = {
    OURS: {},
    OURS_YIELDING: {"yielding": True},
    OURS_WORDS: {},
}


@contextmanager
def _indexed() -> Iterator[Path]:
    """A var folder with this project's documentation in SQLite, to search."""
    with tempfile.TemporaryDirectory() as folder:
        var = Path(folder) / "var"
        env = {"FASTRAG_VAR_DIR": str(var)}
        manage("migrate", "--verbosity", "0", env=env)
        base = "https://docs.example.org/"
        manage("sync", str(ROOT / "docs"), "--base-url", base, env=env)
        yield var


@contextmanager
def _ours(name: str, indexed: Path) -> Iterator[Running]:
    model = {"BACKEND": "benchmarks.models.InstantModel", "OPTIONS": _MODELS[name]}
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(indexed, folder, dirs_exist_ok=True)
        env = {
            "FASTRAG_VAR_DIR": folder,
            "FASTRAG_CHAT_MODEL": json.dumps(model),
            "FASTRAG_ANSWER_MAX_TOKENS": str(LONG),
            "FASTRAG_REQUESTS_PER_MINUTE": "1000000",
            "FASTRAG_CHATS_PER_OWNER": "1000000",
        }
        if name == OURS_WORDS:
            env["FASTRAG_EMBEDDER"] = "null"
        with running((*UVICORN, "fastrag_site.asgi:application"), env=env) as server:
            yield server


def _cookies(server: Running) -> list[str]:
    """Of a session for each client."""
    found = []
    for _ in range(CLIENTS):
        head = _ask(server.port, _request(1, None), 1).partition(b"\r\n\r\n")[0].decode()
        (line,) = (line for line in head.split("\r\n") if line.lower().startswith("set-cookie:"))
        found.append(line.partition(":")[2].partition(";")[0].strip())
    return found


# Clients


def _run(server: Running, tokens: int, streams: int, cookies: list[str]) -> Seconds:
    """So many streams of each client, one after the other; each is checked to be whole."""
    errors: list[BaseException] = []

    def client(number: int) -> None:
        try:
            cookie = cookies[number] if cookies else None
            request = _request(tokens, cookie) if cookies else _plain_request(tokens)
            for _ in range(streams):
                _ask(server.port, request, tokens)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=client, args=(number,)) for number in range(CLIENTS)]
    processor, clock = server.cpu_seconds(), time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return Seconds(server.cpu_seconds() - processor, time.perf_counter() - clock)


def _ask(port: int, request: bytes, tokens: int) -> bytes:
    parts: list[bytes] = []
    with socket.create_connection(("127.0.0.1", port), timeout=60) as sock:
        sock.sendall(request)
        tail = b""
        while not tail.endswith(END):
            part = sock.recv(1 << 18)
            if not part:
                raise EOFError(b"".join(parts)[:500])
            parts.append(part)
            tail = tail[-len(END) :] + part
    answer = b"".join(parts)
    if answer.count(b"event: delta") != tokens:
        raise ValueError(f"{answer.count(b'event: delta')} tokens: {answer[:500]!r}")
    return answer


def _plain_request(tokens: int) -> bytes:
    return f"GET /stream?tokens={tokens} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()


def _request(tokens: int, cookie: str | None) -> bytes:
    body = json.dumps({"content": f"{tokens} tokens on how to deploy behind a proxy"})
    lines = [
        "POST /api/chats HTTP/1.1",
        "Host: localhost",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        *([f"Cookie: {cookie}"] if cookie else []),
    ]
    return "\r\n".join([*lines, "", body]).encode()


if __name__ == "__main__":
    main()
