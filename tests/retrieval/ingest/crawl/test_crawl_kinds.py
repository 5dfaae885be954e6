"""Sitemaps, single pages, bounds on a crawl, and TLS."""

from __future__ import annotations

import gzip
import ssl
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.retrieval.ingest.crawl.conftest import Page, crawled, linking, redirect, serving

XML = "application/xml"


def urlset(*urls: str) -> str:
    locations = "".join(f"<url><loc>{url}</loc></url>" for url in urls)
    return f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{locations}</urlset>'


def index(*urls: str) -> str:
    locations = "".join(f"<sitemap><loc>{url}</loc></sitemap>" for url in urls)
    return f"<sitemapindex>{locations}</sitemapindex>"


def test_a_sitemap_index_leads_to_the_pages_of_its_host_and_no_further() -> None:
    with serving({}) as inside, serving({}) as server:
        url = server.url
        packed = gzip.compress(urlset(url("/b"), url("/doc.pdf"), url("/a")).encode())
        elsewhere = inside.url("/x", host="localhost")
        server.routes |= {
            "/sitemap.xml": redirect("/maps/sitemap.xml"),
            "/maps/sitemap.xml": Page(
                index(url("/one.xml"), url("/two.xml.gz"), url("/lost.xml"), elsewhere), type=XML
            ),
            "/one.xml": Page(urlset(url("/a"), elsewhere, url("/gone")), type=XML),
            "/two.xml.gz": Page(packed, type="application/x-gzip"),
            "/a": linking("/unlisted"),
            "/b": linking(),
            "/doc.pdf": Page(b"%PDF-", type="application/pdf"),
            "/unlisted": linking(),
        }
        crawl = crawled(url("/sitemap.xml"), kind="sitemap")
    assert set(crawl.pages) == {url("/a"), url("/b"), url("/doc.pdf")}
    assert {skipped.url: skipped.reason for skipped in crawl.skipped.values()} == {
        url("/gone"): "answered 404",
        url("/lost.xml"): "answered 404",
        elsewhere: "listed by the sitemap of another site",
    }
    assert inside.asked == []
    assert server.paths().count("/a") == 1
    assert (crawl.end.complete, crawl.end.failure) == (False, None)  # one sitemap is lost


@pytest.mark.parametrize(
    ("body", "failure"),
    [("<html>nothing</html>", "not a sitemap"), (urlset("http://o/"), "lists no page")],
)
def test_a_sitemap_that_cannot_be_used_fails_the_crawl(body: str, failure: str) -> None:
    with serving({"/sitemap.xml": Page(body, type=XML)}) as server:
        crawl = crawled(server.url("/sitemap.xml"), kind="sitemap")
    assert crawl.end.failure is not None
    assert failure in crawl.end.failure


def test_no_more_than_max_pages_are_fetched_and_the_crawl_is_not_complete() -> None:
    routes = {f"/{number}": linking() for number in range(30)}
    with serving({"/": linking(*routes), **routes}) as server:
        crawl = crawled(server.url(), max_pages=10)
    assert len(crawl.pages) == 10
    assert len(server.asked) == 11  # with robots.txt
    assert (crawl.end.complete, crawl.end.failure) == (False, None)


def _certificate(folder: Path) -> tuple[Path, Path]:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "loopback")])
    now = datetime.now(UTC)
    addresses = x509.SubjectAlternativeName([x509.IPAddress(IPv4Address("127.0.0.1"))])
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(addresses, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    certificate, private = folder / "certificate.pem", folder / "key.pem"
    certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    private.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return certificate, private


@pytest.mark.parametrize("is_trusted", [True, False])
def test_a_certificate_counts_when_the_machine_trusts_its_maker(
    is_trusted: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate, key = _certificate(tmp_path)
    if is_trusted:
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with serving({"/": linking()}, tls=context) as server:
        crawl = crawled(f"https://127.0.0.1:{server.server_port}/")
    assert len(crawl.pages) == is_trusted
    if not is_trusted:
        assert crawl.end.failure == "robots.txt TLS certificate or handshake refused"
