"""The project's own documentation under /docs/, so that the demo's citations land on it.

Below: docs/*.md and the Markdown renderer that indexing uses: what is cited is what is shown.
"""

from __future__ import annotations

import re
from pathlib import Path

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.safestring import mark_safe
from django.views.decorators.http import require_safe

from retrieval.ingest import markdown

FOLDER = Path(settings.BASE_DIR) / "docs"
START = "getting-started"
_PAGE_LINK = re.compile(r'href="([\w-]+)\.md(#[^"]*)?"')
_HEADING = re.compile(r"^# (.+)$", re.MULTILINE)


@require_safe
def docs_page(request: HttpRequest, name: str = START) -> HttpResponse:
    """One page of the documentation. Raises Http404 for names that are no page."""
    pages = {path.stem: path for path in sorted(FOLDER.glob("*.md"))}
    if name not in pages:
        raise Http404
    text = pages[name].read_text()
    body = _PAGE_LINK.sub(r'href="/docs/\1/\2"', markdown.render(text))
    body = body.replace('href="openapi.yaml"', 'href="/api/schema"')
    context = {
        "title": _title(text, name),
        "body": mark_safe(body),  # our own files, raw HTML disabled in the renderer
        "pages": [(stem, _title(path.read_text(), stem)) for stem, path in pages.items()],
        "current": name,
    }
    return render(request, "docs/page.html", context)


def _title(text: str, name: str) -> str:
    heading = _HEADING.search(text)
    return heading.group(1) if heading else name
