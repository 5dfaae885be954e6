"""Where an HTML page leads. Pure; below: charset, html.guard, urls; above: reading."""

from __future__ import annotations

import re
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser

from retrieval.ingest.charset import decode
from retrieval.ingest.crawl.directives import Directives, read_directives
from retrieval.ingest.crawl.urls import resolve
from retrieval.ingest.html.guard import tame

MAX_LINKS = 10_000  # a page

_REFRESH = re.compile(r"""\s*[\d.]+\s*[;,]\s*(?:url\s*=\s*)?["']?([^"']+)""", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class PageLinks:
    """Normalised addresses in page order: rel=nofollow ones left out, all under meta nofollow."""

    links: tuple[str, ...] = ()
    refresh: str | None = None  # target of <meta http-equiv="refresh">


def read_links(body: bytes, *, charset: str | None, url: str, robot: str) -> PageLinks:
    """`charset`: as the header declared it."""
    tree = LexborHTMLParser(tame(decode(body, charset)))
    if _meta_directives(tree, robot).nofollow:
        return PageLinks()
    base = _base(tree, url)
    found: dict[str, None] = {}
    for node in tree.css("a[href], area[href]"):
        attributes = node.attributes
        if "nofollow" in (attributes.get("rel") or "").lower().split():
            continue
        link = resolve(base, attributes.get("href") or "")
        if link is not None:
            found[link] = None
            if len(found) == MAX_LINKS:
                break
    return PageLinks(links=tuple(found), refresh=_refresh(tree, base))


def _meta_directives(tree: LexborHTMLParser, robot: str) -> Directives:
    names = {"robots", robot.lower()}
    contents = [
        node.attributes.get("content") or ""
        for node in tree.css("meta[name]")
        if (node.attributes.get("name") or "").strip().lower() in names
    ]
    return read_directives(contents, robot=robot)


def _base(tree: LexborHTMLParser, url: str) -> str:
    node = tree.css_first("base[href]")
    href = node.attributes.get("href") if node else None
    return (resolve(url, href) if href else None) or url


def _refresh(tree: LexborHTMLParser, base: str) -> str | None:
    for node in tree.css("meta[http-equiv]"):
        if (node.attributes.get("http-equiv") or "").strip().lower() == "refresh":
            match = _REFRESH.match(node.attributes.get("content") or "")
            return resolve(base, match[1]) if match else None
    return None
