from __future__ import annotations

import gzip
from contextlib import suppress

import pytest

from retrieval.ingest.crawl import sitemap
from retrieval.ingest.crawl.sitemap import BadSitemap, Sitemap, parse_sitemap

NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
URLS = f"""<?xml version="1.0" encoding="UTF-8"?><urlset {NAMESPACE} xmlns:i="http://i/">
<url><loc> http://H/a#x </loc><lastmod>2024-01-01</lastmod>
<i:image><i:loc>http://h/i.png</i:loc></i:image></url>
<url><loc><![CDATA[http://h/b?x=1&y=2]]></loc></url></urlset>"""
PAGES = ("http://h/a", "http://h/b?x=1&y=2")


def test_a_urlset_lists_pages() -> None:
    assert parse_sitemap(URLS.encode()) == Sitemap(pages=PAGES)


def test_a_gzip_file_is_unpacked() -> None:
    assert parse_sitemap(gzip.compress(URLS.encode())).pages == PAGES


def test_an_index_lists_sitemaps() -> None:
    xml = f"<sitemapindex {NAMESPACE}><sitemap><loc>http://h/s.xml</loc></sitemap></sitemapindex>"
    assert parse_sitemap(xml.encode()) == Sitemap(sitemaps=("http://h/s.xml",))


def test_a_text_file_lists_one_address_a_line() -> None:
    assert parse_sitemap(b"\xef\xbb\xbfhttp://h/a\r\n\r\nnonsense\nhttp://h/b\n").pages == (
        "http://h/a",
        "http://h/b",
    )


def test_bare_ampersands_are_forgiven() -> None:
    xml = b"<urlset><url><loc>http://h/a?x=1&y=2&amp;z=3</loc></url></urlset>"
    assert parse_sitemap(xml).pages == ("http://h/a?x=1&y=2&z=3",)


def test_an_empty_urlset_is_a_sitemap() -> None:
    assert parse_sitemap(b"<urlset></urlset>") == Sitemap()


@pytest.mark.parametrize(
    "body", [b"", b"<html><body>Not found</body></html>", b"words", b"\x1f\x8b\x08junk", b"\0\0"]
)
def test_anything_else_is_refused(body: bytes) -> None:
    with pytest.raises(BadSitemap):
        parse_sitemap(body)


def test_a_gzip_bomb_is_refused_at_the_cap() -> None:
    packed = gzip.compress(b"<urlset>" + bytes(sitemap.MAX_BYTES), compresslevel=1)
    with pytest.raises(BadSitemap, match="too large"):
        parse_sitemap(packed)


def test_entities_neither_explode_nor_read_files() -> None:
    laughs = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 10))
    bomb = f'<!DOCTYPE u [<!ENTITY a0 "aaaaaaaaaa">{laughs}]><urlset><url><loc>http://h/&a9;'
    assert parse_sitemap(bomb.encode()).pages == ()
    file = '<!DOCTYPE u [<!ENTITY a SYSTEM "file:///etc/hostname">]><urlset><url><loc>http://h/&a;'
    assert parse_sitemap(f"{file}</loc></url></urlset>".encode()).pages == ("http://h/",)


@pytest.mark.parametrize("piece", [b"<![CDATA[", b"&", b"&a", b"]]>", b"<!--", b"<a b='"])
def test_hostile_repetition_takes_linear_time(piece: bytes) -> None:
    with suppress(BadSitemap):
        parse_sitemap(b"<urlset>" + piece * 200_000)


def test_a_flood_of_elements_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sitemap, "MAX_ELEMENTS", 100)
    xml = b"<urlset><url><loc>http://h/a</loc></url>" + b"<x/>" * 1_000
    assert parse_sitemap(xml).pages == ("http://h/a",)


def test_the_number_of_addresses_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sitemap, "MAX_LOCATIONS", 10)
    urls = "".join(f"<url><loc>http://h/{n}</loc></url>" for n in range(50))
    assert len(parse_sitemap(f"<urlset>{urls}</urlset>".encode()).pages) == 10
    assert len(parse_sitemap("\n".join(f"http://h/{n}" for n in range(50)).encode()).pages) == 10
