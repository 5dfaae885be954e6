"""What was fetched → Document, by media type. Below: charset, html, markdown, text, pdf.

Above: ingest.run. Control characters end here, and only here: they come in any format, also as
character references, and PostgreSQL refuses NUL.
"""

from __future__ import annotations

import re
from dataclasses import replace

from fastrag_site.conf import conf
from retrieval.ingest.base import Document, Fetched, Skipped
from retrieval.ingest.charset import decode
from retrieval.ingest.html import parse_html
from retrieval.ingest.html.xhtml import as_html
from retrieval.ingest.markdown import parse_markdown
from retrieval.ingest.pdf import parse_pdf
from retrieval.ingest.text import parse_text

UNSUPPORTED = "unsupported media type"
EMPTY = "empty document"

XHTML = "application/xhtml+xml"
HTML = frozenset({"text/html", XHTML})
MARKDOWN = frozenset({"text/markdown", "text/x-markdown"})
PDF = frozenset({"application/pdf", "application/x-pdf"})
VAGUE = frozenset({"", "application/octet-stream", "binary/octet-stream"})

# All but tab and line feed. Without carriage returns, lines end in one way.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def parse(fetched: Fetched) -> Document | Skipped:
    """Never raises for what a document holds. `noindex` counts wherever it was said."""
    if not fetched.body.strip():
        return Skipped(url=fetched.url, reason=EMPTY)
    parsed = _parse(fetched, _media_type(fetched))
    if isinstance(parsed, Skipped):
        return parsed
    clean = _without_controls(parsed)
    return replace(clean, noindex=True) if fetched.noindex else clean


def _media_type(fetched: Fetched) -> str:
    """As declared; where that says nothing, as the first bytes look."""
    if fetched.media_type not in VAGUE:
        return fetched.media_type
    start = fetched.body[:1024].lstrip().lower()
    if start.startswith(b"%pdf-"):
        return "application/pdf"
    return "text/html" if start.startswith((b"<!doctype html", b"<html")) else fetched.media_type


def _parse(fetched: Fetched, media_type: str) -> Document | Skipped:
    if media_type in PDF:
        return parse_pdf(fetched.body, url=fetched.url)
    if media_type not in HTML | MARKDOWN | {"text/plain"}:
        return Skipped(url=fetched.url, reason=UNSUPPORTED)
    text = decode(fetched.body, fetched.charset)
    if media_type == "text/plain":
        return parse_text(text)
    if media_type == XHTML:
        text = as_html(text)
    robot = conf().crawl_user_agent.partition("/")[0].strip()
    read = parse_markdown if media_type in MARKDOWN else parse_html
    return read(text, url=fetched.url, robot=robot)


def _without_controls(document: Document) -> Document:
    """Blocks of nothing but controls stay in `visible`, where their number is their place."""
    strings = [document.title or "", document.site_name or ""]
    strings += [block.text for block in document.blocks]
    strings += [heading for block in document.blocks for heading in block.section]
    strings += document.visible or ()
    if not any(map(_CONTROLS.search, strings)):
        return document
    blocks = (
        replace(
            block,
            text=cleaned(block.text).strip(),
            section=tuple(map(cleaned, block.section)),
        )
        for block in document.blocks
    )
    return replace(
        document,
        title=document.title and (cleaned(document.title) or None),
        site_name=document.site_name and (cleaned(document.site_name) or None),
        blocks=tuple(block for block in blocks if block.text),
        visible=document.visible and tuple(map(cleaned, document.visible)),
    )


def cleaned(text: str) -> str:
    """Without what no index and no database wants to keep."""
    return _CONTROLS.sub("", text)
