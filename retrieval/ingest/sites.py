"""What the operator names as a source → a remembered Site.

Below: models, store. Above: ingest.syncing, the sync command, the admin form.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from retrieval.ingest.crawl.urls import normalise
from retrieval.ingest.store import Pruned, pages_prune
from retrieval.models import Page, Site

LOCATION_MAX = 2000
COUNT_MAX = 1_000_000  # of links to follow, and of pages


class BadSource(ValueError):
    """A source that cannot be synced; the message says what to give instead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceOptions:
    """How to read a source. None keeps what the site has, or the default."""

    depth: int | None = None
    max_pages: int | None = None
    base_url: str | None = None
    single: bool = False
    strip_suffix: bool | None = None


def site_remember(source: str, options: SourceOptions) -> Site:
    """The Site row of a source, made or updated. Raises BadSource."""
    kind, location = source_resolve(source, single=options.single)
    if kind is not Site.Kind.FOLDER and (options.base_url or options.strip_suffix):
        raise BadSource(f"--base-url and --strip-suffix are for folders, not for {source}")
    site = Site.objects.filter(location=location).first() or Site(location=location)
    if site.pk is None or options.single or site.kind != Site.Kind.URL:
        site.kind = kind
    if options.depth is not None:
        site.depth = options.depth
    if options.max_pages is not None:
        site.max_pages = options.max_pages
    if options.strip_suffix is not None:
        site.strip_suffix = options.strip_suffix
    if options.base_url is not None:
        site.base_url = options.base_url
    site.base_url = base_url_check(kind, site.base_url)
    site.save()
    return site


def source_resolve(source: str, *, single: bool = False) -> tuple[Site.Kind, str]:
    """What kind of thing a source is, and its one spelling. Raises BadSource."""
    given = source.strip()
    if len(given) > LOCATION_MAX or "\0" in given:
        raise BadSource(f"The source is not an address or a folder: {given[:80]!r}")
    if "://" in given:
        return _address(given, single=single)
    path = Path(given).expanduser()
    if given and path.is_dir():
        return Site.Kind.FOLDER, str(path.resolve())
    if given and path.exists():
        raise BadSource(f"{given} is a file; give the folder it is in, with its --base-url.")
    raise BadSource(
        f"{given!r} is neither a web address nor a folder on this machine. "
        "Start a web address with http:// or https://."
    )


def base_url_check(kind: str, base_url: str) -> str:
    """The base URL of a folder with its closing slash, "" for other kinds. Raises BadSource."""
    if kind != Site.Kind.FOLDER:
        return ""
    if not base_url:
        raise BadSource(
            "A folder needs the address under which it is published, because answers link to it: "
            "--base-url https://example.org/docs/"
        )
    _, address = _address(base_url, single=True)
    parts = urlsplit(address)
    if parts.query:
        raise BadSource(f"The base URL cannot have a query: {base_url}")
    return urlunsplit(parts._replace(path=parts.path.rstrip("/") + "/"))


def _address(given: str, *, single: bool) -> tuple[Site.Kind, str]:
    try:
        location = normalise(given)
    except ValueError as error:
        raise BadSource(f"{given} cannot be synced: {error}.") from error
    if single:
        return Site.Kind.URL, location
    is_sitemap = urlsplit(location).path.lower().endswith((".xml", ".xml.gz"))
    return (Site.Kind.SITEMAP if is_sitemap else Site.Kind.SITE), location


def sites_enabled() -> list[Site]:
    return list(Site.objects.filter(enabled=True).order_by("pk"))


def site_delete(site: Site) -> Pruned:
    """Remove a site with its pages from every index. A running sync of it ends."""
    Site.objects.filter(pk=site.pk).update(lease="removed", leased_until=None)
    pruned = pages_prune(Page.objects.filter(site=site).values_list("pk", flat=True))
    site.delete()
    return pruned
