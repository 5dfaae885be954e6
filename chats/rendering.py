"""An answer's Markdown → HTML that is safe to show, its [n] as links to the passages. Pure.

Below: markdown-it-py, nh3, presenting's sources. Above: presenting, exporting.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from typing import Any, Protocol

import nh3
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

CITATION = re.compile(r"\[(\d{1,4})\]")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")  # as Markdown ends them
_MARKS_OF_CODE = ("```", "~~~", "    ", "\t")
_FENCE = re.compile(r" {0,3}(```+(?=[^`]*$)|~~~+)")
_INDENTED = re.compile(r" {0,3}\S")
# What stays as it is within a paragraph: inline code, the model's own links, an escaped bracket.
_KEPT = re.compile(
    r"(?<![`\\])(?P<ticks>`+)(?!`).*?(?<!`)(?P=ticks)(?!`)"
    r"|\[(?:[^\[\]]|\[[^\[\]]*\])*\]\([^()]*(?:\([^()]*\)[^()]*)*\)"
    r"|\\\[",
    re.DOTALL,
)
_BLOCKS = {"paragraph_open", "heading_open", "bullet_list_open", "ordered_list_open"}
_BLOCKS |= {"blockquote_open", "table_open", "th_open", "td_open"}
_TEXT_TAGS = {"p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote"}
_TEXT_TAGS |= {"table", "thead", "tbody", "tr", "th", "td"}
_TAGS = _TEXT_TAGS | {"a", "br", "code", "del", "em", "hr", "pre", "strong", "span"}
_LINK = {"href", "title", "class", "target", "aria-label"}
_ATTRIBUTES = {
    **{tag: {"dir"} for tag in _TEXT_TAGS},
    "ol": {"dir", "start"},
    "a": _LINK | {"data-title", "data-site", "data-snippet"},
    "code": {"class"},
    "span": {"class", "data-title", "data-site", "data-snippet"},
}


class Cited(Protocol):
    """What a chip says of its source; `href` is "" where the address is no web page."""

    @property
    def href(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def site(self) -> str: ...
    @property
    def snippet(self) -> str: ...


def answer_html(text: str, cited: Mapping[int, Cited]) -> SafeString:
    """Raw HTML shows as text, images as links: an answer must make no browser load anything."""
    html = _renderer().render(text, {"cited": cited})
    clean = nh3.clean(
        html,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer nofollow",
    )
    return mark_safe(clean)


def with_links(text: str, cited: Mapping[int, Cited]) -> str:
    """The Markdown as it is, save that each known [n] outside of code links to its passage."""

    def linked(match: re.Match[str]) -> str:
        source = cited.get(int(match[1]))
        if source is None or not source.href:
            return match[0]
        return f"[\\[{match[1]}\\]]({_in_parentheses(source.href)})"

    def paragraph_linked(paragraph: str) -> str:
        parts: list[str] = []
        end = 0
        for kept in _KEPT.finditer(paragraph):
            parts += [CITATION.sub(linked, paragraph[end : kept.start()]), kept[0]]
            end = kept.end()
        return "".join([*parts, CITATION.sub(linked, paragraph[end:])])

    code = _lines_of_code(text)
    lines = enumerate(_LINE.findall(text))
    grouped = groupby(lines, lambda line: (line[0] in code, not line[1].strip()))
    joined = ((is_code, "".join(line for _, line in group)) for (is_code, _), group in grouped)
    return "".join(part if is_code else paragraph_linked(part) for is_code, part in joined)


def _lines_of_code(text: str) -> set[int]:
    """Fenced and indented, in lists and quotes as well. Most texts need not be parsed for it."""
    if not any(mark in text for mark in _MARKS_OF_CODE):
        return set()
    tokens = _renderer().parse(text, {"cited": {}})
    blocks = (token.map for token in tokens if token.type in ("fence", "code_block") and token.map)
    return {line for begin, end in blocks for line in range(begin, end)}


def end_of_code(text: str) -> str:
    """The fence that an answer which was cut short in code still needs, or all that follows is."""
    fence = ""
    for line in text.splitlines():
        if fence:
            mark = line.strip()
            if _INDENTED.match(line) and len(mark) >= len(fence) and not mark.strip(fence[0]):
                fence = ""
        elif opening := _FENCE.match(line):
            fence = opening[1]
    return f"\n{fence}" if fence else ""


def _in_parentheses(href: str) -> str:
    for character, encoded in ((" ", "%20"), ("(", "%28"), (")", "%29"), ("\\", "%5C")):
        href = href.replace(character, encoded)
    return href


@lru_cache(maxsize=1)
def _renderer() -> MarkdownIt:
    renderer = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    # [1] is a citation, whatever definitions an answer holds.
    renderer.disable(["reference", "image", "html_block", "html_inline"])
    renderer.core.ruler.before("text_join", "citations", _find_citations)
    renderer.add_render_rule("citation", _render_citation)
    return renderer


def _find_citations(state: StateCore) -> None:
    """Before text_join, so that an escaped bracket is still apart from the text."""
    for token in state.tokens:
        if token.type in _BLOCKS:
            token.attrSet("dir", "auto")
        if token.type == "inline" and token.children:
            token.children = list(_with_citations(token.children, state.env["cited"]))


def _with_citations(tokens: Sequence[Token], cited: Mapping[int, Cited]) -> Iterator[Token]:
    depth = 0
    for token in tokens:
        if token.type == "link_open":
            depth += 1
            token.attrSet("target", "_blank")
        elif token.type == "link_close":
            depth -= 1
        if token.type == "text" and not depth:
            yield from _split(token, cited)
        else:
            yield token


def _split(token: Token, cited: Mapping[int, Cited]) -> Iterator[Token]:
    text, end = token.content, 0
    for match in CITATION.finditer(text):
        source = cited.get(int(match[1]))
        if source is None:
            continue
        yield _text(_kept_beside(text[end : match.start()]))
        yield Token("citation", "", 0, content=match[1], meta={"source": source})
        end = match.end()
    yield _text(text[end:])


def _kept_beside(text: str) -> str:
    """A citation begins no line."""
    return f"{text[:-1]}\u00a0" if text.endswith(" ") else text


def _text(content: str) -> Token:
    return Token("text", "", 0, content=content)


def _render_citation(
    self: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any
) -> str:
    token = tokens[index]
    source: Cited = token.meta["source"]
    about = format_html(
        'data-title="{}" data-site="{}" data-snippet="{}"',
        source.title,
        source.site,
        source.snippet,
    )
    if not source.href:
        return format_html('<span class="chip" {}>{}</span>', about, token.content)
    return format_html(
        '<a class="chip" href="{}" target="_blank" aria-label="{}" {}>{}</a>',
        source.href,
        gettext("Source %(number)s: %(title)s") % {"number": token.content, "title": source.title},
        about,
        token.content,
    )
