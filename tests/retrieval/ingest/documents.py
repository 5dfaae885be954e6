"""Short ways to a parsed page, for the tests of parsing, chunks and fragments."""

from __future__ import annotations

from retrieval.ingest.base import Block, BlockKind, Document, Fetched, Passage, Skipped
from retrieval.ingest.html import parse_html
from retrieval.ingest.parse import parse

URL = "https://docs.example/guide/page.html"


def page(body: str, *, head: str = "", url: str = URL) -> Document:
    return parse_html(f"<!doctype html><head>{head}</head><body>{body}", url=url, robot="Robot")


def texts(document: Document) -> list[str]:
    return [block.text for block in document.blocks]


def block(
    text: str,
    *,
    kind: BlockKind = BlockKind.PARAGRAPH,
    section: tuple[str, ...] = (),
    anchor: str | None = None,
    at: int | None = None,
    joined: bool = False,
) -> Block:
    return Block(kind=kind, text=text, section=section, anchor=anchor, visible_at=at, joined=joined)


def fetched(
    body: bytes | str, *, media_type: str = "text/html", charset: str | None = None
) -> Fetched:
    content = body.encode() if isinstance(body, str) else body
    return Fetched(url=URL, requested_url=URL, media_type=media_type, charset=charset, body=content)


def read(
    body: bytes | str, *, media_type: str = "text/html", charset: str | None = None
) -> Document:
    document = parse(fetched(body, media_type=media_type, charset=charset))
    assert isinstance(document, Document)
    return document


def refused(body: bytes | str, *, media_type: str) -> str:
    """Why a document is skipped."""
    skipped = parse(fetched(body, media_type=media_type))
    assert isinstance(skipped, Skipped)
    assert skipped.url == URL
    return skipped.reason


def words(count: int, *, start: int = 0) -> str:
    """A sentence of `count` words that occur nowhere else."""
    return " ".join(f"word{number}" for number in range(start, start + count)) + "."


def joined_text(passages: list[Passage]) -> str:
    return "\n".join(passage.text for passage in passages)
