"""Which part of a page is its content, and what is not. Below: tags. Above: walker, parsing."""

from __future__ import annotations

import re
from collections.abc import Mapping

from selectolax.lexbor import LexborHTMLParser, LexborNode

from retrieval.ingest.html.tags import BLOCKS, SEAM, named

Attributes = Mapping[str, str | None]

# The first that holds text; within it, a lone article that holds most of its text.
_ROOTS = (
    '[role="main" i]',
    "main",
    "article",
    ".markdown-body, div.body, #content, #main-content, #main, .content",
)
_OUTSIDE_TAGS = frozenset({"nav", "footer", "menu"})
_OUTSIDE_ROLES = named(
    "navigation banner contentinfo search menu menubar toolbar dialog alertdialog tablist"
)
_OUTSIDE_CLASSES = named(
    "linenos lineno linenodiv gutter line-numbers edit-link breadcrumb breadcrumbs toc "
    "table-of-contents sphinxsidebar related sr-only visually-hidden skip-link"
)
_TOPIC = {"contents", "topic"}  # a table of contents
_PERMALINKS = named(
    "headerlink hash-link anchor-link anchorjs-link permalink heading-link heading-anchor "
    "header-anchor footnote-backref reversefootnote footnote-back mw-cite-backlink"
)
# An edit link within a heading; shown, but to search for it with the heading helps nobody.
_EDIT = "mw-editsection"
_BORING = "boring"  # lines that examples of mdBook hide
_MARKED = f"[hidden], [style], [inert], [popover], dialog:not([open]), .{_EDIT}, pre .{_BORING}"
_HIDING = re.compile(
    r"(?:^|[;\s])(?:display\s*:\s*none|(?:content-)?visibility\s*:\s*hidden)\b", re.IGNORECASE
)
# The commonest: others are walked over, to the same end.
_STYLING = ["span", "code", "em", "strong", "b", "i", "tt", "font", "var"]
# Themes make boxes of these, or hide them: no search crosses the edges of a box in a line.
_BOXES = ", ".join(
    f"{tag}[class*={name}]"
    for tag in ("a", "span", "small", "strong")
    for name in ("btn", "button", "badge", "label", "backrefs", "keycap")
)
_HEADINGS = named("h1 h2 h3 h4 h5 h6")
_TEXT_TAGS = named("p ul ol dl table pre blockquote h1 h2 h3 h4 h5 h6")

MOST = 0.5  # of the main element's text: an article with more is the content
DENSE = 0.75  # of the text: a subtree with more is descended into
MAX_LEVELS = 40
NESTED = 3  # elements of a line within each other, in a heading
MAX_CANDIDATES = 50


def simplify(body: LexborNode) -> None:
    """Take out what is not shown, and the tags that only style a part of a line.

    Most elements of a page are such tags; to walk over them would take most of the time.
    """
    # A body that hides itself is shown by a script once the page is loaded.
    marked = (node for node in body.css(_MARKED) if node.tag != "body")
    hidden = [node for node in marked if _is_hidden(node, node.attributes)]
    ids = {node.mem_id for node in hidden}
    for node in [node for node in hidden if not _is_inside(node, ids)]:
        node.decompose()
    for span in body.css("span[id]"):
        _name_heading(span)
    for box in body.css(_BOXES):
        box.insert_before(SEAM)
        box.insert_after(SEAM)
    body.unwrap_tags(_STYLING)
    body.merge_text_nodes()


def content_root(tree: LexborHTMLParser, body: LexborNode) -> LexborNode:
    """The block element that holds the page's content."""
    root = _marked_root(tree) or _densest(body)
    while root.tag not in BLOCKS and root.parent is not None and root.mem_id != body.mem_id:
        root = root.parent
    return root


def is_outside(node: LexborNode, attributes: Attributes, *, root: int) -> bool:
    """Shown, but no content: menus, footers, columns of links, line numbers."""
    tag = node.tag
    if tag in _OUTSIDE_TAGS or attributes.get("aria-hidden") == "true":
        return True
    if (role := attributes.get("role")) and role.lower() in _OUTSIDE_ROLES:
        return True
    if names := attributes.get("class"):
        classes = names.split()
        if not _OUTSIDE_CLASSES.isdisjoint(classes) or _TOPIC.issubset(classes):
            return True
    return (tag == "header" or tag == "aside") and not _belongs(node, root)


def is_permalink(node: LexborNode, attributes: Attributes, *, in_heading: bool) -> bool:
    """The mark beside a heading that links to itself; themes show it on hover at most."""
    classes = attributes.get("class") or ""
    if classes and not _PERMALINKS.isdisjoint(classes.split()):
        return True
    if not (attributes.get("href") or "").startswith("#"):
        return False
    return (in_heading or "anchor" in classes) and not any(map(str.isalnum, node.text()))


def _is_inside(node: LexborNode, ids: set[int]) -> bool:
    parent = node.parent
    while parent is not None:
        if parent.mem_id in ids:
            return True
        parent = parent.parent
    return False


def _name_heading(span: LexborNode) -> None:
    """The id of a span in or just before a heading becomes its name: the span is about to go."""
    node = span.parent if span.first_child is not None else span.next
    while node is not None and node.tag == "-text" and node.is_empty_text_node:
        node = node.next
    for _ in range(NESTED):
        if node is None or node.tag in _HEADINGS:
            break
        node = node.parent
    if node is not None and node.tag in _HEADINGS and not node.attributes.get("name"):
        node.attrs["name"] = span.attributes.get("id") or ""


def _is_hidden(node: LexborNode, attributes: Attributes) -> bool:
    if "hidden" in attributes:
        return (attributes["hidden"] or "").lower() != "until-found"
    if "inert" in attributes or "popover" in attributes:
        return True
    if node.tag == "dialog" and "open" not in attributes:
        return True
    classes = (attributes.get("class") or "").split()
    if _EDIT in classes or _BORING in classes:
        return True
    return _HIDING.search(attributes.get("style") or "") is not None


def _marked_root(tree: LexborHTMLParser) -> LexborNode | None:
    """The element that the page, or a common theme, declares to be the content."""
    for selector in _ROOTS:
        size, node = _longest(tree.css(selector))
        if node is not None and size:
            inner, article = _longest(node.css("article"))
            return article if article is not None and inner > MOST * size else node
    return None


def _longest(nodes: list[LexborNode]) -> tuple[int, LexborNode | None]:
    sized = ((len(node.text(strip=True)), node) for node in nodes[:MAX_CANDIDATES])
    return max(sized, key=lambda pair: pair[0], default=(0, None))


def _densest(body: LexborNode) -> LexborNode:
    """The deepest element that still holds most of the text that is not in links."""
    node, weight = body, _weight(body)
    for _ in range(MAX_LEVELS):
        children = ((_weight(child), child) for child in node.iter())
        best, child = max(children, key=lambda pair: pair[0], default=(0, None))
        if child is None or child.tag in _TEXT_TAGS or best < DENSE * weight:
            break
        node = child
    return node


def _belongs(node: LexborNode, root: int) -> bool:
    """A note, or the title, within the content: not a column of links beside it."""
    parent = node.parent
    while parent is not None and parent.mem_id != root:
        parent = parent.parent
    return parent is not None and _linked(node) <= MOST * len(node.text(strip=True))


def _weight(node: LexborNode) -> int:
    return len(node.text(strip=True)) - _linked(node)


def _linked(node: LexborNode) -> int:
    return sum(len(link.text(strip=True)) for link in node.css("a"))
