"""A successful response → what the crawl wants to know of it. Pure.

Below: media, directives, links. Above: the crawl session.
"""

from __future__ import annotations

from dataclasses import dataclass

from retrieval.ingest.crawl import media
from retrieval.ingest.crawl.directives import read_directives
from retrieval.ingest.crawl.links import PageLinks, read_links
from retrieval.ingest.crawl.replies import Reply


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    media_type: str | None  # None: not a document of ours
    charset: str | None
    etag: str
    last_modified: str
    noindex: bool  # by header
    page: PageLinks


def read(reply: Reply, *, url: str, robot: str) -> Reading:
    """`url`: as it was asked for, the base of relative links."""
    declared, charset = media.parse_content_type(reply.header("content-type"))
    media_type = media.document_type(declared, url, reply.body)
    asked = read_directives(reply.headers.get("x-robots-tag", ()), robot=robot)
    page = PageLinks()
    if media_type in media.HTML and not asked.nofollow:
        page = read_links(reply.body, charset=charset, url=url, robot=robot)
    return Reading(
        media_type=media_type,
        charset=charset,
        etag=reply.header("etag"),
        last_modified=reply.header("last-modified"),
        noindex=asked.noindex,
        page=page,
    )
