"""PDF → Document. The parser is a child process that is killed when it takes too long.

Below: pdf_child, pdf_layout, conf. Above: ingest.parse. No fragments: browsers do not search a PDF.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from fastrag_site.conf import conf
from retrieval.ingest.base import Document, Skipped
from retrieval.ingest.language import page_language
from retrieval.ingest.pdf_layout import Entry, read_blocks

TOO_SLOW = "PDF took too long to read"
UNREADABLE = "PDF cannot be read"
NO_TEXT = "PDF holds no text, only images"
REASONS = {
    "password": "PDF needs a password",
    "memory": "PDF needs too much memory to read",
    "broken": UNREADABLE,
}
CHILD = Path(__file__).with_name("pdf_child.py")


def parse_pdf(body: bytes, *, url: str) -> Document | Skipped:
    """A document that may not be printed is read like any other; one with a password is not."""
    try:
        read = _read(body)
    except subprocess.TimeoutExpired:
        return Skipped(url=url, reason=TOO_SLOW)
    if read is None:
        return Skipped(url=url, reason=UNREADABLE)
    if "error" in read:
        return Skipped(url=url, reason=REASONS.get(read["error"], UNREADABLE))
    outline = [Entry(level=level, title=title, page=page) for level, title, page in read["outline"]]
    blocks = read_blocks(read["pages"], outline)
    if not blocks:
        return Skipped(url=url, reason=NO_TEXT)
    return Document(
        title=" ".join(read["title"].split()) or None,
        language=page_language("", (block.text for block in blocks)),
        blocks=blocks,
    )


def _read(body: bytes) -> dict[str, Any] | None:
    """What the child says, None where it died. Raises TimeoutExpired, with the child killed."""
    # -P: the folder of the file is no place to import from; its html is not the library's.
    command = [sys.executable, "-P", str(CHILD), str(conf().pdf_max_pages)]
    done = subprocess.run(command, input=body, capture_output=True, timeout=conf().pdf_seconds)
    if done.returncode != 0:
        return None
    try:
        read = json.loads(done.stdout)
    except ValueError:
        return None
    return read if isinstance(read, dict) else None
