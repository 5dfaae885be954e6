"""What a page says of itself: declared values only, nothing guessed."""

from __future__ import annotations

import pytest

from tests.retrieval.ingest.documents import URL, page

TEXT = "<main><h1>The heading</h1><p>Text.</p></main>"


@pytest.mark.parametrize(
    ("head", "body", "title"),
    [
        ("<title> The \n title &amp; more </title>", TEXT, "The title & more"),
        ("<title></title>", TEXT, "The heading"),
        ("", TEXT, "The heading"),
        ("", "<svg><title>Drawing</title></svg><p>Text</p>", None),
        ("", "<header><h1>Above</h1></header><main><p>Text</p></main>", "Above"),
        ("", "<h2>Second level</h2><p>Text</p>", None),
        ("", "<p>Text</p>", None),
    ],
)
def test_the_title_is_the_title_element_else_the_main_heading(
    head: str, body: str, title: str | None
) -> None:
    assert page(body, head=head).title == title


@pytest.mark.parametrize(
    ("head", "name"),
    [
        ('<meta property="og:site_name" content=" My\n Site ">', "My Site"),
        ('<meta name="og:site_name" content="My Site">', "My Site"),
        ('<meta property="og:site_name" content="">', None),
        ('<title>Page | My Site</title><meta property="og:title" content="Page">', None),
    ],
)
def test_the_site_name_is_as_declared_or_none(head: str, name: str | None) -> None:
    assert page(TEXT, head=head).site_name == name


@pytest.mark.parametrize(
    ("head", "icon"),
    [
        ('<link rel="icon" href="icon.png">', "https://docs.example/guide/icon.png"),
        ('<link rel="Shortcut ICON" href="/f.ico">', "https://docs.example/f.ico"),
        ('<link rel="icon" href="//cdn.example/x.ico">', "https://cdn.example/x.ico"),
        ('<link rel="icon" href="http://other.example/x.ico">', "http://other.example/x.ico"),
        (
            '<base href="/assets/"><link rel="icon" href="x.ico">',
            "https://docs.example/assets/x.ico",
        ),
        ('<link rel="icon" href="x.ico"><base href="//cdn.example/">', "https://cdn.example/x.ico"),
        ('<link rel="icon" href="data:image/png;base64,AAAA">', None),
        ('<link rel="icon" href="javascript:alert(1)">', None),
        ('<link rel="icon" href="ftp://docs.example/x.ico">', None),
        ('<link rel="icon" href="http://[broken/x.ico">', None),
        ('<link rel="icon" href="">', None),
        ('<link rel="apple-touch-icon" href="x.png">', None),
        ("", None),
    ],
)
def test_the_icon_is_resolved_against_the_base_element_then_the_final_address(
    head: str, icon: str | None
) -> None:
    assert page(TEXT, head=head, url=URL).favicon_url == icon


@pytest.mark.parametrize(
    ("href", "canonical"),
    [
        ("/guide/", "https://docs.example/guide/"),
        ("HTTPS://Docs.Example:443/a?utm_source=x#y", "https://docs.example/a"),
        ("https://other.example/guide/", None),
        ("mailto:x@docs.example", None),
    ],
)
def test_a_canonical_address_is_taken_within_the_host(href: str, canonical: str | None) -> None:
    assert page(TEXT, head=f'<link rel="canonical" href="{href}">').canonical_url == canonical


@pytest.mark.parametrize(
    ("head", "noindex", "nofollow"),
    [
        ('<meta name="robots" content="NOINDEX, follow">', True, False),
        ('<meta name="ROBOTS" content="noindex,nofollow">', True, True),
        ('<meta name="robots" content="none">', True, True),
        ('<meta name="robot" content="noindex">', True, False),
        ('<meta name="otherbot" content="noindex">', False, False),
        ('<meta name="robots" content="max-snippet:-1, index">', False, False),
        ("", False, False),
    ],
)
def test_robots_directives_are_obeyed_where_they_address_everyone_or_us(
    head: str, noindex: bool, nofollow: bool
) -> None:
    document = page(TEXT, head=head)
    assert (document.noindex, document.nofollow) == (noindex, nofollow)


def test_links_are_absolute_without_fragment_each_once_in_page_order() -> None:
    document = page(
        '<nav><a href="/b">b</a></nav><a href="c.html#x">c</a><a href="c.html#y">c</a>'
        '<a href="#top">top</a><a href="mailto:x@y.z">m</a><a href="javascript:x()">j</a>'
        '<a href="http://[broken">x</a><a rel="nofollow" href="/no">n</a><a>none</a>'
        '<a href="?page=2">p</a><a href="HTTP://Other.example:80/">o</a>'
    )
    assert document.links == (
        "https://docs.example/b",
        "https://docs.example/guide/c.html",
        "https://docs.example/guide/page.html?page=2",
        "http://other.example/",
    )


def test_declarations_behind_a_stray_tag_count() -> None:
    document = page("", head='<p>stray<title>T</title><meta name="robots" content="noindex">')
    assert document.title == "T"
    assert document.noindex


def test_a_frameset_has_a_title_and_no_blocks() -> None:
    from retrieval.ingest.html import parse_html

    document = parse_html("<title>F</title><frameset><frame src=a></frameset>", url=URL, robot="x")
    assert document.title == "F"
    assert document.blocks == ()
