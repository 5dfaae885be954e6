"""A stdio and HTTP server with every method a client may call, for tests of other processes."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[4]))

from retrieval import rcp

DOCUMENTS = {"d1": "the cat", "d2": "the eiffel tower", "d5": "a tower of steel"}

drain = float(sys.argv[2]) if len(sys.argv) > 2 else 5.0
server = rcp.Server(limits=rcp.Limits(drain_seconds=drain))
server.set_info("plain", "2.0")
server.advertise(rcp.Capability.Retrieve, {"maxK": 50, "modes": ["sparse"]})
server.advertise(rcp.Capability.Rerank, {"methods": ["llm"]})
server.advertise(
    rcp.Capability.Embed, {"dimension": 3, "batchLimit": 8, "encodings": ["json", "f32-base64"]}
)
server.advertise(rcp.Capability.Index, {"writable": True})
server.advertise(rcp.Capability.Feedback)
server.advertise(rcp.Capability.Transform, {"methods": ["multi-query"]})
server.advertise(rcp.Capability.Streaming)
server.advertise(rcp.Capability.Log, {"levels": ["info"]})


@server.stream("retrieve")
def retrieve(params: dict[str, Any]) -> Any:
    query = params["query"]
    if query == "die":
        os._exit(3)
    if query == "fail":
        raise rcp.BackendUnavailable("the index is down")
    yield rcp.Progress(0.5, "recall", "2 found", ["d2", "d5"])
    if query.startswith("sleep:"):
        for _ in range(int(float(query[6:]) * 100)):
            time.sleep(0.01)
            yield rcp.Progress(0.6, "asleep")
    rcp.current_call().log("info", "searched", query=query)
    found = [id_ for id_, text in sorted(DOCUMENTS.items()) if query in text]
    hits = [
        {"id": id_, "score": 1.0 - 0.1 * n, "text": DOCUMENTS[id_]} for n, id_ in enumerate(found)
    ]
    return {"hits": hits[: params.get("k", 5)], "usage": {"candidates": len(found)}}


@server.on("rerank")
def rerank(params: dict[str, Any]) -> Any:
    return {"scores": [float(len(passage)) for passage in params["passages"]]}


@server.on("embed")
async def embed(params: dict[str, Any]) -> Any:
    return {"vectors": [[float(len(text)), 0.5, -1.0] for text in params["inputs"]]}


@server.on("index/add")
def add(params: dict[str, Any]) -> Any:
    ids = [document.get("id") or f"new{n}" for n, document in enumerate(params["documents"])]
    DOCUMENTS.update(zip(ids, (doc["text"] for doc in params["documents"]), strict=True))
    return {"ids": ids, "chunks": len(ids)}


@server.on("index/delete")
def delete(params: dict[str, Any]) -> Any:
    return {"deleted": sum(DOCUMENTS.pop(id_, None) is not None for id_ in params["ids"])}


@server.on("feedback")
def feedback(params: dict[str, Any]) -> Any:
    return {"accepted": len(params["signals"])}


@server.on("query/transform")
def transform(params: dict[str, Any]) -> Any:
    return {"queries": [params["query"]] * params.get("n", 2)}


if __name__ == "__main__":
    if sys.argv[1:2] == ["http"]:
        server.serve_http(0, on_ready=lambda port: print(port, flush=True))
    else:
        server.serve_stdio()
