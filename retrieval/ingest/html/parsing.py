"""One HTML page → Document. Below: guard, head, content, walker, contents.

Above: ingest.parse, markdown.
"""

from __future__ import annotations

from selectolax.lexbor import LexborHTMLParser

from retrieval.ingest.base import Document
from retrieval.ingest.html.content import content_root, simplify
from retrieval.ingest.html.contents import without_contents
from retrieval.ingest.html.guard import tame
from retrieval.ingest.html.head import read_head
from retrieval.ingest.html.walker import Walker
from retrieval.ingest.language import page_language


def parse_html(markup: str, *, url: str, robot: str) -> Document:
    """Never fails: what is no HTML is text. `robot`: the name that robots directives address."""
    tree = LexborHTMLParser(tame(markup))
    head = read_head(tree, url=url, robot=robot)
    body = tree.body
    if body is None:  # a frameset
        return Document(title=head.title, links=head.links)
    simplify(body)
    walker = Walker(root=content_root(tree, body).mem_id)
    walker.walk(body)
    blocks = tuple(without_contents(walker.blocks, walker.linked))
    return Document(
        title=head.title or walker.title,
        site_name=head.site_name,
        favicon_url=head.favicon_url,
        language=page_language(head.language, (block.text for block in blocks)),
        canonical_url=head.canonical_url,
        noindex=head.noindex,
        nofollow=head.nofollow,
        blocks=blocks,
        visible=tuple(walker.visible),
        links=head.links,
    )
