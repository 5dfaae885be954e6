"""Starts a stdio server, searches it, and shows a progress bar while it works.

python3 examples/stdio_progress.py [QUERY]
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from retrieval import rcp

SERVER = Path(__file__).resolve().with_name("stdio_server.py")
WIDTH = 30


def show(progress: rcp.Progress) -> None:
    """Draw the bar over itself on a terminal; elsewhere, only the end of each stage."""
    done = round(progress.progress * WIDTH)
    bar = f"{'█' * done}{'·' * (WIDTH - done)}"
    line = f"{bar} {progress.progress:>4.0%}  {progress.stage}: {progress.message or ''}"
    if sys.stderr.isatty():
        print(f"\r{line}\x1b[K", end="", file=sys.stderr, flush=True)
    elif progress.progress >= 1.0:
        print(line, file=sys.stderr)


def main() -> None:
    query = sys.argv[1] if len(sys.argv) > 1 else "rcp"
    with rcp.connect_stdio([sys.executable, str(SERVER)]) as client:
        print(f"{client.server['name']} answers over stdio")
        result = client.retrieve(query, 5, on_progress=show)
        if sys.stderr.isatty():
            print(file=sys.stderr)
        for hit in result["hits"]:
            print(f"{hit['score']:.3f}  line {hit['id']:>2}  {hit.get('text', '')}")


if __name__ == "__main__":
    main()
