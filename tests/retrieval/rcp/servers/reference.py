"""A server on the protocol's independent Python SDK (a development dependency)."""

from __future__ import annotations

import sys

import rcp

server = rcp.Server()
server.set_info("reference", "1.0")
server.advertise(rcp.Capability.Retrieve, {"maxK": 50, "modes": ["hybrid"]})
server.advertise(rcp.Capability.Embed, {"dimension": 2})
server.advertise(rcp.Capability.Rerank)
server.advertise(rcp.Capability.Index, {"writable": True})
server.advertise(rcp.Capability.Streaming)


def retrieve(params):
    if params["query"] == "fail":
        raise rcp.RcpError(rcp.Errc.NOT_FOUND, "no such thing")
    yield rcp.Progress(0.5, "recall", partial=["a"])
    yield rcp.Progress(1.0, "rerank")
    return {"hits": [{"id": "a", "score": 1.0, "text": "alpha"}]}


server.stream("retrieve", retrieve)
server.on("embed", lambda params: {"vectors": [[1.0, 2.0] for _ in params["inputs"]]})
server.on("rerank", lambda params: {"scores": [float(len(p)) for p in params["passages"]]})
server.on("index/add", lambda params: {"ids": [d["id"] for d in params["documents"]]})
server.on("index/delete", lambda params: {"deleted": len(params["ids"])})

if __name__ == "__main__":
    if sys.argv[1:2] == ["http"]:
        server.serve_http(int(sys.argv[2]))
    else:
        server.serve_stdio()
