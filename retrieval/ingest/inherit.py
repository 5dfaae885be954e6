"""Documents that cannot declare a site name and an icon take them from a page that links to them.

Runs after a crawl, over what is stored, so the order of arrival does not matter and a change of
the linking page reaches its documents. Below: models. Above: ingest.syncing.
"""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlsplit

from retrieval.models import Page, Site

DECLARING = ("text/html", "application/xhtml+xml")
Identity = tuple[str | None, str | None]  # site_name, favicon_url


def identities_inherit(site: Site) -> int:
    """Give each document of the site its linking page's identity; how many rows changed."""
    fields = ("pk", "url", "linked_from", "site_name", "favicon_url")
    documents = Page.objects.filter(site=site, note="").exclude(media_type__in=DECLARING)
    changed: list[Page] = []
    rows = list(documents.only(*fields[1:]).order_by("pk"))
    found = _by_linking_page(site, rows)
    found |= _by_any_link(site, {page.url for page in rows if page.url not in found})
    for page in rows:
        identity = found.get(page.url, (None, None))
        if identity != (page.site_name, page.favicon_url):
            page.site_name, page.favicon_url = identity
            changed.append(page)
    Page.objects.bulk_update(changed, ["site_name", "favicon_url"], batch_size=200)
    return len(changed)


def _by_linking_page(site: Site, documents: Iterable[Page]) -> dict[str, Identity]:
    """Through the page that led the crawl to the document."""
    wanted = {page.linked_from for page in documents if _same_host(page.linked_from, page.url)} - {
        ""
    }
    pages = Page.objects.filter(site=site, note="", media_type__in=DECLARING)
    identities: dict[str, Identity] = {}
    ordered = sorted(wanted)
    for start in range(0, len(ordered), 500):
        some = pages.filter(fetched_url__in=ordered[start : start + 500])
        for url, *identity in some.values_list("fetched_url", "site_name", "favicon_url"):
            identities[url] = (identity[0], identity[1])
    return {
        page.url: identities[page.linked_from]
        for page in documents
        if page.linked_from in identities
    }


def _by_any_link(site: Site, orphans: set[str]) -> dict[str, Identity]:
    """Through the first page whose links name the document."""
    found: dict[str, Identity] = {}
    if not orphans:
        return found
    pages = Page.objects.filter(site=site, note="", media_type__in=DECLARING).order_by("pk")
    fields = ("url", "links", "site_name", "favicon_url")
    for url, links, *identity in pages.values_list(*fields).iterator(chunk_size=200):
        for link in orphans.intersection(links):
            if link not in found and _same_host(url, link):
                found[link] = (identity[0], identity[1])
    return found


def _same_host(one: str, other: str) -> bool:
    return urlsplit(one).netloc == urlsplit(other).netloc
