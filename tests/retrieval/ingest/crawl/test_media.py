from __future__ import annotations

import pytest

from retrieval.ingest.crawl.media import document_type, may_be_document, parse_content_type, suffix


@pytest.mark.parametrize(
    ("header", "parsed"),
    [
        ("text/html", ("text/html", None)),
        ("Text/HTML; Charset=UTF-8", ("text/html", "UTF-8")),
        ('text/html;charset="Shift_JIS"', ("text/html", "Shift_JIS")),
        ("", ("", None)),
        (" ; ; ", ("", None)),
    ],
)
def test_a_content_type_has_a_kind_and_maybe_a_charset(
    header: str, parsed: tuple[str, str | None]
) -> None:
    assert parse_content_type(header) == parsed


@pytest.mark.parametrize(
    ("declared", "url", "body", "found"),
    [
        ("text/html", "http://h/a", b"", "text/html"),
        ("application/xhtml+xml", "http://h/a", b"", "application/xhtml+xml"),
        ("text/x-markdown", "http://h/a", b"", "text/markdown"),
        ("text/plain", "http://h/README.md", b"", "text/markdown"),
        ("text/plain", "http://h/a.txt", b"", "text/plain"),
        ("application/octet-stream", "http://h/a", b"%PDF-1.7", "application/pdf"),
        ("application/octet-stream", "http://h/a.md", b"# A", "text/markdown"),
        ("", "http://h/a", b"\xef\xbb\xbf\n<!DOCTYPE html>", "text/html"),
        ("", "http://h/a", b"\0\1\2", None),
        ("image/png", "http://h/a.html", b"<html>", None),
        ("application/json", "http://h/a", b"{}", None),
    ],
)
def test_the_type_of_a_document(declared: str, url: str, body: bytes, found: str | None) -> None:
    assert document_type(declared, url, body) == found


def test_only_possible_documents_are_received() -> None:
    assert all(map(may_be_document, ("text/html", "application/octet-stream", "", "text/plain")))
    assert not any(map(may_be_document, ("video/mp4", "application/zip", "text/css")))


def test_a_suffix_is_of_the_last_segment_alone() -> None:
    urls = ("http://h/a.PNG?x=.pdf", "http://h/v1.2/a", "http://h/.hidden", "http://h.com/")
    assert [suffix(url) for url in urls] == [".png", "", "", ""]
