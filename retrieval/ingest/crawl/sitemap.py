"""sitemap.xml and sitemap indexes → addresses. Pure, with bounds; above: the crawl session."""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass

from lxml import etree  # type: ignore[import-untyped,unused-ignore]

from retrieval.ingest.crawl.urls import MAX_CHARS, normalise

MAX_BYTES = 50 * 1024 * 1024  # of one sitemap, unpacked (the protocol's own limit)
MAX_LOCATIONS = 50_000  # of one sitemap (likewise)
MAX_ELEMENTS = 1_000_000  # of one sitemap: more is an attack on the parser
_MARKS = re.compile(rb"<!\[CDATA\[|\]\]>|&(?!#?\w{1,32};)")
_GZIP = b"\x1f\x8b"


class BadSitemap(ValueError):
    """The bytes are no sitemap; the message is a short phrase."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sitemap:
    """Normalised addresses in order; those that are no web addresses are left out."""

    pages: tuple[str, ...] = ()
    sitemaps: tuple[str, ...] = ()  # of an index


def parse_sitemap(body: bytes) -> Sitemap:
    """Raises BadSitemap."""
    data = _unpacked(body)
    if data.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] != b"<":
        return _of_lines(data)
    reader = _Reader()
    # A target instead of a tree: a hostile file of ten million elements stays small in memory.
    parser = etree.XMLParser(
        target=reader, recover=True, resolve_entities=False, no_network=True, huge_tree=False
    )
    try:
        etree.fromstring(_escaped(data), parser)
    except _Enough:
        pass
    except etree.XMLSyntaxError as error:
        raise BadSitemap("not a sitemap") from error
    if not reader.is_sitemap:
        raise BadSitemap("not a sitemap")
    return Sitemap(pages=tuple(reader.found["url"]), sitemaps=tuple(reader.found["sitemap"]))


def _escaped(data: bytes) -> bytes:
    """A bare & is the commonest mistake in sitemaps; within CDATA it is none."""
    inside = False

    def mark(match: re.Match[bytes]) -> bytes:
        nonlocal inside
        if match[0] == b"&" and not inside:
            return b"&amp;"
        inside = match[0] == b"<![CDATA[" if match[0] != b"&" else inside
        return match[0]

    return _MARKS.sub(mark, data)


class _Enough(Exception):
    """Enough addresses were read."""


class _Reader:
    """Collects the text of url/loc and sitemap/loc as elements go by."""

    def __init__(self) -> None:
        self.is_sitemap = False
        self.found: dict[str, dict[str, None]] = {"url": {}, "sitemap": {}}
        self._path: list[str] = []
        self._text: list[str] | None = None
        self._elements = 0

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        name = tag.rpartition("}")[2]
        inside = self._path[-1] if self._path else ""
        self.is_sitemap = self.is_sitemap or name in {"urlset", "sitemapindex"}
        self._text = [] if name == "loc" and inside in self.found else None
        self._path.append(name)
        self._elements += 1
        if self._elements > MAX_ELEMENTS:
            raise _Enough

    def data(self, text: str) -> None:
        if self._text is not None and len(self._text) < MAX_CHARS:
            self._text.append(text[:MAX_CHARS])

    def end(self, tag: str) -> None:
        self._path.pop()
        if self._text is not None:
            _add(self.found[self._path[-1]], "".join(self._text))
            self._text = None
            if sum(map(len, self.found.values())) >= MAX_LOCATIONS:
                raise _Enough

    def close(self) -> None:
        return None


def _of_lines(data: bytes) -> Sitemap:
    """The plain form of the protocol: one address a line."""
    pages: dict[str, None] = {}
    for line in data.decode("utf-8-sig", "replace").splitlines():
        if line.strip():
            _add(pages, line)
        if len(pages) >= MAX_LOCATIONS:
            break
    if not pages:
        raise BadSitemap("not a sitemap")
    return Sitemap(pages=tuple(pages))


def _add(target: dict[str, None], location: str) -> None:
    try:
        target[normalise(location)] = None
    except ValueError:
        return


def _unpacked(body: bytes) -> bytes:
    """A .xml.gz is gzip as a media type, not as a content encoding, so it arrives packed."""
    if not body.startswith(_GZIP):
        return body
    unpacker = zlib.decompressobj(wbits=31)
    try:
        data = unpacker.decompress(body, MAX_BYTES + 1)
    except zlib.error as error:
        raise BadSitemap("not a sitemap") from error
    if len(data) > MAX_BYTES:
        raise BadSitemap("too large")
    return data
