"""A retrieval engine on stdin and stdout, in twenty lines; examples/stdio_progress.py calls it."""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from retrieval import rcp

LINES = [line.strip() for line in Path(__file__).read_text().splitlines() if line.strip()]
server = rcp.Server()
server.set_info("grep-this-file", "1.0")
server.advertise(rcp.Capability.Retrieve, {"maxK": 50})
server.advertise(rcp.Capability.Streaming)


@server.stream("retrieve")
def retrieve(params):  # type: ignore[no-untyped-def]
    hits = []
    for number, line in enumerate(LINES, 1):
        if params["query"].lower() in line.lower():
            hits.append({"id": str(number), "score": 1 / number, "text": line})
        time.sleep(0.02)  # so that there is something to watch
        yield rcp.Progress(number / len(LINES), "scan", f"{len(hits)} found", hits[-1:])
    return {"hits": hits[: params.get("k", 5)]}


if __name__ == "__main__":
    server.serve_stdio()
