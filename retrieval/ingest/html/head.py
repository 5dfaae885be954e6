"""What a page says of itself: title, site, icon, language, robots, links. Above: html.parsing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urljoin, urlsplit

from selectolax.lexbor import LexborHTMLParser, LexborNode

from retrieval.ingest.crawl.directives import read_directives
from retrieval.ingest.crawl.urls import resolve

MAX_LINKS = 10_000  # a page
_DECLARING = "base[href], link[href][rel], meta[content], title"


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """Declared values only; nothing is guessed."""

    title: str | None
    site_name: str | None
    favicon_url: str | None
    language: str  # as declared, "" where nothing is
    canonical_url: str | None
    noindex: bool
    nofollow: bool
    links: tuple[str, ...]


def read_head(tree: LexborHTMLParser, *, url: str, robot: str) -> Head:
    nodes = _declaring(tree)
    base = next(filter(None, (_absolute(url, node) for node in nodes["base"])), url)
    declared = [_declaration(node) for node in nodes["meta"]]
    asked = read_directives(
        [content for name, content in declared if name in {"robots", robot.lower()}], robot=robot
    )
    sites = (_line(content) for name, content in declared if name == "og:site_name")
    titles = (_line(node.text()) for node in nodes["title"] if _is_of_page(node))
    icons = (_absolute(base, node) for node in nodes["link"] if "icon" in _relations(node))
    return Head(
        title=next(titles, None),
        site_name=next(filter(None, sites), None),
        favicon_url=next(filter(None, icons), None),
        language=_language(tree),
        canonical_url=_canonical(nodes["link"], base, url),
        noindex=asked.noindex,
        nofollow=asked.nofollow,
        links=_links(tree, base),
    )


def _declaring(tree: LexborHTMLParser) -> dict[str | None, list[LexborNode]]:
    """The elements that speak of the page, by tag."""
    nodes: dict[str | None, list[LexborNode]] = {"base": [], "link": [], "meta": [], "title": []}
    found = tree.head.css(_DECLARING) if tree.head else []
    if not any(node.tag == "title" for node in found):
        found = tree.css(_DECLARING)  # a stray tag has ended the head early
    for node in found:
        nodes[node.tag].append(node)
    return nodes


def _line(text: str) -> str | None:
    return " ".join(text.split()) or None


def _declaration(meta: LexborNode) -> tuple[str, str]:
    attributes = meta.attributes
    name = attributes.get("name") or attributes.get("property") or ""
    return name.strip().lower(), attributes.get("content") or ""


def _is_of_page(title: LexborNode) -> bool:
    """Drawings have titles too."""
    parent = title.parent
    while parent is not None and parent.tag != "svg":
        parent = parent.parent
    return parent is None


def _relations(link: LexborNode) -> list[str]:
    return (link.attributes.get("rel") or "").lower().split()


def _canonical(links: Iterable[LexborNode], base: str, url: str) -> str | None:
    """Only within the host: another one has no say over what is stored for this."""
    for node in links:
        named = "canonical" in _relations(node)
        address = resolve(base, node.attributes.get("href") or "") if named else None
        if address and urlsplit(address).netloc == urlsplit(url).netloc:
            return address
    return None


def _absolute(base: str, node: LexborNode) -> str | None:
    """The http(s) address in `href`, as spelled; None for anything else, such as `data:`."""
    href = (node.attributes.get("href") or "").strip()
    if not href or href.startswith("data:"):
        return None
    try:
        address = urljoin(base, href)
        parts = urlsplit(address)
    except ValueError:
        return None
    return address if parts.scheme in {"http", "https"} and parts.hostname else None


def _language(tree: LexborHTMLParser) -> str:
    root = tree.root
    if root is None:
        return ""
    attributes = root.attributes
    return attributes.get("lang") or attributes.get("xml:lang") or ""


def _links(tree: LexborHTMLParser, base: str) -> tuple[str, ...]:
    hrefs: dict[str, None] = {}
    for node in tree.css('a[href]:not([href^="#"]), area[href]'):
        attributes = node.attributes
        if "nofollow" not in (attributes.get("rel") or "").lower().split():
            hrefs[(attributes.get("href") or "").partition("#")[0].strip()] = None
    hrefs.pop("", None)
    folder = base[: base.rindex("/") + 1] if base.count("/") > 2 else base
    found = (_resolved(base if href[0] == "?" else folder, href) for href in hrefs)
    return tuple(dict.fromkeys(link for link in found if link))[:MAX_LINKS]


@lru_cache(maxsize=16_384)  # the pages of a folder share most of their links
def _resolved(base: str, href: str) -> str | None:
    return resolve(base, href)
