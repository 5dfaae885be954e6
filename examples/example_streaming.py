"""Watch a retrieval funnel fill: an HTTP + SSE server, and a client on a bare socket.

    python3 examples/example_streaming.py

The server is a complete program; the client reads the event stream byte by byte and prints each
frame as it comes, then the final response.
"""

from __future__ import annotations

import json
import socket
import sys
import threading
import time
from collections import Counter
from collections.abc import Generator, Iterator
from math import sqrt
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from retrieval import rcp

PAGES = {
    "d1": "Iron towers were the fashion of the age, each as tall as the money would reach.",
    "d2": "The Eiffel Tower is 330 metres tall.",
    "d3": "The Louvre holds the Mona Lisa.",
    "d4": "Croissants are at their best by seven.",
    "d5": "How tall may a tower be? Eiffel's engineers said 300 metres.",
}
Hit = dict[str, Any]


# The engine.


def trigrams(text: str) -> Counter[str]:
    text = f"  {text.lower()}  "
    return Counter(text[i : i + 3] for i in range(len(text) - 2))


def cosine(a: Counter[str], b: Counter[str]) -> float:
    norm = sqrt(sum(n * n for n in a.values()) * sum(n * n for n in b.values()))
    return sum(n * b[gram] for gram, n in a.items()) / norm


def ranked(scores: dict[str, float]) -> list[Hit]:
    best_first = sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))
    return [{"id": id_, "score": score, "text": PAGES[id_]} for id_, score in best_first if score]


def recall_dense(query: str) -> list[Hit]:
    time.sleep(0.1)  # a real index would be busy here
    return ranked({id_: cosine(trigrams(query), trigrams(text)) for id_, text in PAGES.items()})


def recall_sparse(query: str) -> list[Hit]:
    time.sleep(0.1)
    words = set(query.lower().split())
    return ranked({id_: float(len(words & words_of(text))) for id_, text in PAGES.items()})


def rerank(query: str, hits: list[Hit]) -> list[Hit]:
    time.sleep(0.1)
    words = set(query.lower().split())
    share = {hit["id"]: len(words & words_of(hit["text"])) / len(words) for hit in hits}
    return [{**hit, "score": share[hit["id"]]} for hit in hits if share[hit["id"]]]


def words_of(text: str) -> set[str]:
    return {word.strip(".,?'s") for word in text.lower().split()}


# The server.


def retrieve(params: dict[str, Any]) -> Generator[rcp.Progress, None, dict[str, Any]]:
    query, k = params["query"], params.get("k", 5)
    dense = recall_dense(query)
    yield rcp.Progress(0.33, "recall:dense", partial=[h["id"] for h in dense[:k]])

    fused = rcp.rrf_fuse({"dense": dense, "sparse": recall_sparse(query)}, k=k * 2)
    yield rcp.Progress(0.66, "fuse:rrf", partial=[h["id"] for h in fused[:k]])

    hits = rerank(query, fused)[:k]
    yield rcp.Progress(1.0, "rerank", partial=[h["id"] for h in hits])
    return {"hits": hits, "mode": "hybrid"}


def start_server() -> tuple[rcp.Server, int]:
    s = rcp.Server()
    s.set_info("streaming-demo", "1.0")
    s.advertise(rcp.Capability.Retrieve, {"maxK": 100, "modes": ["hybrid"]})
    s.advertise(rcp.Capability.Streaming)  # required for the SSE path
    s.stream("retrieve", retrieve)
    ports: list[int] = []
    ready = threading.Event()

    def on_ready(port: int) -> None:
        ports.append(port)
        ready.set()

    serving = threading.Thread(target=s.serve_http, kwargs={"port": 0, "on_ready": on_ready})
    serving.start()
    if not ready.wait(10):
        raise SystemExit("the server did not start")
    return s, ports[0]


# The client.


def post(port: int, method: str, params: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """POST one request and yield each message of the event stream as it arrives."""
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
    head = (  # HTTP/1.0: the body is the stream itself, without chunk marks
        f"POST /rcp HTTP/1.0\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
        f"Accept: text/event-stream\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(head.encode() + body)
        with connection.makefile("rb") as lines:
            for line in lines:
                if line.startswith(b"data: "):
                    yield json.loads(line[6:])


def main() -> None:
    server, port = start_server()
    try:
        list(post(port, "initialize", {"protocolVersion": 1, "client": {"name": "socket"}}))
        question = "how tall is the eiffel tower"
        params = {"query": question, "k": 3, "_meta": {"progressToken": "t1"}}
        for message in post(port, "retrieve", params):
            if message.get("method") == "notifications/progress":
                frame = message["params"]
                partial = frame["partial"]["hits"]
                print(f"progress {frame['progress']:>4.0%}  {frame['stage']:<14} {partial=}")
            else:
                hits = [hit["id"] for hit in message["result"]["hits"]]
                print(f"final response frame: {hits = }, mode = {message['result']['mode']!r}")
    finally:
        server.close()


if __name__ == "__main__":
    main()
