"""The PDF reader's own process: bytes on stdin, one JSON object on stdout. Above: ingest.pdf.

Run as a file, so that nothing of ours is loaded: a parser of hostile input in native code is best
alone. What it writes: {"error": …} or {"title", "outline": [[level, title, page]], "pages": […]}.
"""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from typing import Any

import pypdfium2 as pdfium

MEMORY_BYTES = 768 * 1024**2
MAX_CHARS = 20_000_000  # of all pages
MAX_OUTLINE = 5_000  # entries


def main() -> None:
    max_pages = int(sys.argv[1])
    _limit_memory()
    body = sys.stdin.buffer.read()
    try:
        result = read(body, max_pages=max_pages)
    except MemoryError:
        result = {"error": "memory"}
    except pdfium.PdfiumError as error:
        result = {"error": "password" if "password" in str(error).lower() else "broken"}
    # Lone surrogates of a broken font table cannot be UTF-8: JSON escapes them.
    sys.stdout.write(json.dumps(result))


def read(body: bytes, *, max_pages: int) -> dict[str, Any]:
    document = pdfium.PdfDocument(body)
    pages: list[str] = []
    left = MAX_CHARS
    for index in range(min(len(document), max_pages)):
        text = _page_text(document, index)[:left]
        left -= len(text)
        pages.append(text)
        if not left:
            break
    title = document.get_metadata_value("Title")
    return {"title": title, "outline": _outline(document), "pages": pages}


def _page_text(document: Any, index: int) -> str:
    """One damaged page does not spoil the others."""
    try:
        page = document[index]
        textpage = page.get_textpage()
        try:
            return str(textpage.get_text_range())
        finally:
            textpage.close()
            page.close()
    except pdfium.PdfiumError:
        return ""


def _outline(document: Any) -> list[tuple[int, str, int]]:
    found: list[tuple[int, str, int]] = []
    with suppress(pdfium.PdfiumError):
        for entry in document.get_toc():
            target = entry.get_dest()
            page = target.get_index() if target else None
            if page is not None:
                found.append((entry.level, str(entry.get_title()), page))
            if len(found) == MAX_OUTLINE:
                break
    return found


def _limit_memory() -> None:
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))


if __name__ == "__main__":
    main()
