"""Which addresses belong to a crawl. Pure; below: urls, above: the crawl session."""

from __future__ import annotations

from dataclasses import dataclass, replace
from urllib.parse import urlsplit, urlunsplit

from retrieval.ingest.base import CrawlRequest
from retrieval.ingest.crawl.urls import normalise

# Only these make a last segment a file: "/en/4.2" is a folder that lacks its slash.
_FILE_SUFFIXES = (".html", ".htm", ".xhtml", ".shtml", ".php", ".asp", ".aspx", ".jsp", ".md",
                  ".txt", ".pdf")  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """A site: one host with port, and a path prefix.

    On the default ports, http and https are the same site and its pages are asked for by the
    scheme that the start page ended with. `aliases` are hosts that were seen to redirect here.
    """

    scheme: str
    netloc: str
    prefix: str  # "/docs/": what is below; "/docs": that page and what is below
    aliases: frozenset[str] = frozenset()

    @classmethod
    def of(cls, request: CrawlRequest) -> Scope:
        """The scope that a request names. Raises ValueError where its location is no address."""
        parts = urlsplit(normalise(request.location))
        prefix = _prefix(parts.path) if request.kind == "site" else "/"
        return cls(scheme=parts.scheme, netloc=parts.netloc, prefix=prefix)

    def on_host(self, url: str) -> str | None:
        """A normalised address as this site spells it; None where it is another site's."""
        parts = urlsplit(url)
        if parts.netloc != self.netloc and parts.netloc not in self.aliases:
            return None
        if parts.scheme != self.scheme and _has_port(parts.netloc):
            return None
        return urlunsplit(parts._replace(scheme=self.scheme, netloc=self.netloc))

    def admit(self, url: str) -> str | None:
        """As `on_host`, and inside the path prefix."""
        mine = self.on_host(url)
        if mine is None:
            return None
        path = urlsplit(mine).path
        below = path.startswith(self.prefix.rstrip("/") + "/")
        return mine if below or path == self.prefix.rstrip("/") else None

    def moved(self, url: str) -> Scope | None:
        """The scope after the start page redirected to `url`; None where that is another site.

        The same site are: http and https, with and without "www.", on the same or the default
        ports. The prefix stays as the operator named it.
        """
        parts = urlsplit(url)
        if _bare(parts.netloc) != _bare(self.netloc):
            return None
        if (parts.scheme, parts.netloc) == (self.scheme, self.netloc):
            return self
        if parts.scheme != self.scheme and _has_port(parts.netloc):
            return None
        aliases = self.aliases | {self.netloc}
        return replace(self, scheme=parts.scheme, netloc=parts.netloc, aliases=aliases)


def _has_port(netloc: str) -> bool:
    return ":" in netloc.rpartition("]")[2]


def _bare(netloc: str) -> str:
    return netloc.removeprefix("www.")


def _prefix(path: str) -> str:
    """The folder of a file such as /docs/index.html; any other path stands for itself."""
    folder, _, name = path.rpartition("/")
    return f"{folder}/" if name.lower().endswith(_FILE_SUFFIXES) else path
