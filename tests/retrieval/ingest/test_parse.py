"""Documents by media type; what no database takes ends here."""

from __future__ import annotations

from dataclasses import replace

import pytest

from retrieval.ingest.base import Document
from retrieval.ingest.parse import parse
from tests.retrieval.ingest.documents import fetched, read, refused, texts


@pytest.mark.parametrize("media_type", ["text/html", "application/xhtml+xml"])
def test_html_is_read_as_html(media_type: str) -> None:
    assert texts(read("<p>a</p><p>b</p>", media_type=media_type)) == ["a", "b"]


def test_elements_that_close_themselves_are_closed_where_the_document_is_xml() -> None:
    body = (
        '<html><head><script src="x.js"/></head><body><div hidden="hidden"/><p>a<br/>b</p></body>'
    )
    assert texts(read(body, media_type="application/xhtml+xml")) == ["a\nb"]


@pytest.mark.parametrize("media_type", ["text/markdown", "text/x-markdown"])
def test_markdown_is_read_as_rendered(media_type: str) -> None:
    assert texts(read("# A\n\n*b* `c`", media_type=media_type)) == ["A", "b c"]


def test_plain_text_is_read_as_it_is() -> None:
    assert texts(read("<p>a</p>\n\n# b", media_type="text/plain")) == ["<p>a</p>", "# b"]


@pytest.mark.parametrize("media_type", ["", "application/octet-stream"])
def test_where_the_type_says_nothing_the_first_bytes_do(media_type: str) -> None:
    assert texts(read("\n <!DOCTYPE html><p>a", media_type=media_type)) == ["a"]
    assert refused("%PDF-1.7 broken", media_type=media_type) == "PDF cannot be read"
    assert refused("PK\x03\x04", media_type=media_type) == "unsupported media type"


@pytest.mark.parametrize("media_type", ["image/png", "application/json", "application/zip"])
def test_other_types_are_skipped_with_a_reason(media_type: str) -> None:
    assert refused("x", media_type=media_type) == "unsupported media type"


@pytest.mark.parametrize("body", ["", " \n\t"])
def test_an_empty_document_is_skipped(body: str) -> None:
    assert refused(body, media_type="text/html") == "empty document"


def test_a_page_without_text_is_a_document_for_its_links() -> None:
    document = read('<a href="/a"><img src="x.png"></a>')
    assert document.blocks == ()
    assert document.links == ("https://docs.example/a",)


def test_noindex_counts_wherever_it_was_said() -> None:
    said_by_header = parse(replace(fetched("<p>x</p>"), noindex=True))
    assert isinstance(said_by_header, Document)
    assert said_by_header.noindex
    assert read('<meta name="robots" content="noindex"><p>x</p>').noindex


@pytest.mark.parametrize("media_type", ["text/html", "text/markdown", "text/plain"])
def test_control_characters_are_removed_from_every_text(media_type: str) -> None:
    body = "a\x00b\x01c\x7fd\x85e &#1;f&#13;\n\n\x02\n\nlast"
    document = read(body, media_type=media_type)
    everything = "".join((document.title or "", *texts(document), *(document.visible or ())))
    assert not any((ord(c) < 32 and c not in "\n\t") or 127 <= ord(c) < 160 for c in everything)
    assert "abcde" in everything.replace("\ufffd", "")
    assert all(texts(document))


def test_control_characters_are_removed_from_titles_and_sections() -> None:
    document = read(
        '<title>a\x01b</title><meta property="og:site_name" content="c\x02d">'
        "<main><h1>e\x03f</h1><p>g</p></main>"
    )
    assert (document.title, document.site_name) == ("ab", "cd")
    assert document.blocks[1].section == ("ef",)


def test_a_title_of_nothing_but_controls_is_none() -> None:
    assert read("<title>\x01\x02</title><p>x</p>").title is None


def test_blocks_keep_their_place_where_controls_are_removed() -> None:
    document = read("<p>\x01</p><p>a\x02b</p>", charset="utf-8")
    assert texts(document) == ["ab"]
    for block in document.blocks:
        assert document.visible is not None and block.visible_at is not None
        assert document.visible[block.visible_at] == block.text
