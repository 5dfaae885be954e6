from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.ingest.crawl.links import MAX_LINKS, PageLinks, read_links


def read(html: str | bytes, url: str = "http://h/docs/a", charset: str | None = None) -> PageLinks:
    body = html.encode() if isinstance(html, str) else html
    return read_links(body, charset=charset, url=url, robot="FastragSite")


def test_links_are_absolute_normal_and_in_page_order() -> None:
    page = read('<a href="b#x">b</a><area href="/c?utm_source=x"><a href="HTTP://O:80/d"></a>')
    assert page.links == ("http://h/docs/b", "http://h/c", "http://o/d")


def test_each_link_counts_once() -> None:
    assert read('<a href="b#x"></a><a href="b#y"></a><a href="./b"></a>').links == (
        "http://h/docs/b",
    )


def test_links_resolve_against_the_base_element() -> None:
    assert read('<base href="/other/"><a href="b"></a>').links == ("http://h/other/b",)


def test_a_base_element_that_is_no_address_is_ignored() -> None:
    assert read('<base href="javascript:x"><a href="b"></a>').links == ("http://h/docs/b",)


def test_what_is_no_web_address_is_no_link() -> None:
    html = '<a href="mailto:a@b"></a><a href="javascript:x"></a><a href="data:,x"></a><a href></a>'
    assert read(f'{html}<a href="http://[x/"></a><a name="n"></a>').links == ("http://h/docs/a",)


def test_a_link_with_rel_nofollow_is_left_out() -> None:
    html = '<a rel="external NoFollow" href="b"></a><a rel="nofollowing" href="c"></a>'
    assert read(html).links == ("http://h/docs/c",)


def test_a_page_with_meta_nofollow_has_no_links() -> None:
    html = '<meta name="ROBOTS" content="index, nofollow"><a href="b"></a>'
    assert read(html) == PageLinks()


def test_a_meta_directive_to_another_robot_does_not_count() -> None:
    html = '<meta name="googlebot" content="nofollow"><a href="b"></a>'
    assert read(html).links == ("http://h/docs/b",)


def test_a_meta_directive_to_this_robot_counts() -> None:
    assert read('<meta name="fastragsite" content="none"><a href="b"></a>').links == ()


def test_a_meta_refresh_names_its_target() -> None:
    html = "<meta http-equiv=Refresh content=\"0; url='en/latest/'\">"
    assert read(html).refresh == "http://h/docs/en/latest/"
    assert read('<meta http-equiv="refresh" content="30">').refresh is None


def test_the_charset_of_the_page_is_found() -> None:
    html = '<meta charset="windows-1251"><a href="/страница"></a>'.encode("windows-1251")
    expected = ("http://h/%D1%81%D1%82%D1%80%D0%B0%D0%BD%D0%B8%D1%86%D0%B0",)
    assert read(html).links == expected
    assert read('<a href="/é">'.encode("utf-16")).links == ("http://h/%C3%A9",)


@given(st.binary(max_size=200), st.none() | st.text(max_size=10))
def test_any_bytes_are_a_page(body: bytes, charset: str | None) -> None:
    assert read(b"<a href=x>" + body, charset=charset) is not None


@pytest.mark.parametrize("charset", ["base64", "hex", "idna", "undefined", "utf-7", "x" * 500])
def test_a_charset_that_is_no_charset_does_no_harm(charset: str) -> None:
    html = f'<meta charset="{charset}"><a href="/x">'
    assert read(html, charset=charset).links == ("http://h/x",)


def test_a_million_open_elements_do_not_hold_the_crawl_up() -> None:
    assert read('<a href="/x"></a>' + "<div>" * 1_000_000).links == ("http://h/x",)


def test_the_links_of_a_page_are_bounded() -> None:
    html = "".join(f'<a href="{number}"></a>' for number in range(MAX_LINKS + 10))
    assert len(read(html).links) == MAX_LINKS
