"""Markdown → HTML, and by way of it → Document. Below: markdown-it-py, html. Above: ingest.parse.

A publisher shows the rendered page, so citations must fit that: blocks come from the HTML. The
site's own documentation is rendered by the same `render`.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache

from markdown_it import MarkdownIt
from mdit_py_plugins.anchors import anchors_plugin
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.footnote import footnote_plugin
from mdit_py_plugins.front_matter import front_matter_plugin

from retrieval.ingest.base import Document
from retrieval.ingest.html import parse_html
from retrieval.ingest.text import parse_text

MAX_CHARS = 2_000_000  # rendering takes two seconds for each million; beyond, the source is read

_FRONT_MATTER = re.compile(r"\A---[ \t]*\r?\n(.*?)^(?:---|\.\.\.)[ \t]*$", re.DOTALL | re.MULTILINE)
_TITLE = re.compile(r"^title[ \t]*:[ \t]*(.+?)[ \t]*$", re.MULTILINE)
_QUOTED = re.compile(r"(['\"])(.*)\1")
_NOT_IN_SLUGS = re.compile(r"[^\w\- ]")


def render(text: str, *, raw_html: bool = False) -> str:
    """HTML of a Markdown text, headings with the ids that GitHub gives them, front matter left out.

    Raw HTML shows as text unless it is asked for: the text may then run scripts.
    """
    return str(_renderer(raw_html).render(text))


def parse_markdown(text: str, *, url: str, robot: str) -> Document:
    if len(text) > MAX_CHARS:
        return replace(parse_text(text), visible=None)
    document = parse_html(render(text, raw_html=True), url=url, robot=robot)
    title = _front_matter_title(text) or document.title
    return replace(document, title=title, noindex=False, nofollow=False)


def slug(heading: str) -> str:
    """The id of a heading as GitHub makes it, before repeated ones are numbered."""
    return _NOT_IN_SLUGS.sub("", heading.strip().lower()).replace(" ", "-")


@lru_cache(maxsize=2)
def _renderer(raw_html: bool) -> MarkdownIt:
    renderer = MarkdownIt("commonmark", {"html": raw_html}).enable(["table", "strikethrough"])
    renderer.use(front_matter_plugin).use(footnote_plugin).use(deflist_plugin)
    return renderer.use(anchors_plugin, max_level=6, slug_func=slug)


def _front_matter_title(text: str) -> str | None:
    matter = _FRONT_MATTER.match(text)
    title = _TITLE.search(matter[1]) if matter else None
    if title is None:
        return None
    quoted = _QUOTED.fullmatch(title[1])
    return (quoted[2] if quoted else title[1]) or None
