from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.ingest.crawl.urls import normalise, resolve, twin_key

HOSTS = st.sampled_from(["h", "Example.ORG", "bücher.example", "127.0.0.1", "[::1]", "2130706433"])
TEXT = st.text(
    st.characters(exclude_categories=["Cs"]) | st.sampled_from("%/.&=?#+~:@\\ "), max_size=30
)
ADDRESSES = st.builds(
    lambda scheme, host, port, path, query: f"{scheme}://{host}{port}/{path}?{query}",
    st.sampled_from(["http", "HTTPS", "https"]),
    HOSTS,
    st.sampled_from(["", ":80", ":443", ":8080"]),
    TEXT,
    TEXT,
)


@given(ADDRESSES)
def test_normalising_twice_is_normalising_once(url: str) -> None:
    once = normalise(url)
    assert normalise(once) == once


@given(ADDRESSES)
def test_a_normal_address_is_printable_ascii_without_a_fragment(url: str) -> None:
    normal = normalise(url)
    assert normal.isascii()
    assert normal.isprintable()
    assert "#" not in normal
    assert " " not in normal


@given(st.text(max_size=60))
def test_any_text_is_an_address_or_a_value_error(text: str) -> None:
    try:
        normal = normalise(text)
    except ValueError:
        return
    assert normal.startswith(("http://", "https://"))


@pytest.mark.parametrize(
    "spelling",
    [
        "http://host/a",
        "HTTP://Host:80/a",
        "http://host/a#x",
        "http://host/a?utm_source=y",
        "http://host/a?gclid=1&UTM_Campaign=z&fbclid=2#frag",
        "http://host/b/../a",
        "http://host/./%61",
        "  http://host./a\n",
        "http://host\\a",
        "http:\\\\host/a",
        "http://host/a?",
        "http://host/a?&",
    ],
)
def test_spellings_of_one_page_become_one(spelling: str) -> None:
    assert normalise(spelling) == "http://host/a"


@pytest.mark.parametrize(
    ("spelling", "normal"),
    [
        ("http://h", "http://h/"),
        ("https://h:443?q", "https://h/?q"),
        ("https://h:80/", "https://h:80/"),
        ("http://h/%7Euser/%2fx%zz", "http://h/~user/%2Fx%25zz"),
        ("http://h/é ü", "http://h/%C3%A9%20%C3%BC"),
        ("http://bücher.example/", "http://xn--bcher-kva.example/"),
        ("http://h/a/?x=1&utm_medium=m&y=%20", "http://h/a/?x=1&y=%20"),
        ("http://h/a/.", "http://h/a/"),
        ("http://h/a/b/..", "http://h/a/"),
        ("http://h/../../a", "http://h/a"),
        ("http://my_host/", "http://my_host/"),
    ],
)
def test_normal_form(spelling: str, normal: str) -> None:
    assert normalise(spelling) == normal


@pytest.mark.parametrize(
    ("host", "meant"),
    [
        ("2130706433", "127.0.0.1"),
        ("0x7f.1", "127.0.0.1"),
        ("0177.0.0.1", "127.0.0.1"),
        ("１２７.0.0.1", "127.0.0.1"),
        ("%31%32%37.0.0.1", "127.0.0.1"),
        ("[::FFFF:127.0.0.1]", "[::ffff:7f00:1]"),
        ("[0:0::1]", "[::1]"),
    ],
)
def test_odd_spellings_of_a_host_are_read_as_a_resolver_would(host: str, meant: str) -> None:
    assert normalise(f"http://{host}:8000/") == f"http://{meant}:8000/"


@pytest.mark.parametrize(
    "text",
    [
        "mailto:a@b.c",
        "javascript:void(0)",
        "ftp://h/",
        "//h/a",
        "/a",
        "",
        "http://",
        "http:///a",
        "http://user:secret@h/",
        "http://trusted@evil/",
        "http://h:99999/",
        "http://h:port/",
        "http://[::1/",
        "http://999.1.1.1/",
        "http://a b/",
        "http://h/" + "x" * 3_000,
    ],
)
def test_what_cannot_be_fetched_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError):
        normalise(text)


def test_a_link_is_resolved_against_its_base() -> None:
    assert resolve("http://h/a/b", " ../c#x\n") == "http://h/c"
    assert resolve("http://h/a/b", "//Other/x") == "http://other/x"
    assert resolve("http://h/a/b", "?q=1") == "http://h/a/b?q=1"
    assert resolve("http://h/", "mailto:a@b") is None
    assert resolve("http://h/", "http://[bad/") is None


def test_twins_are_a_trailing_slash_or_an_index_file_apart() -> None:
    key = twin_key("http://h/a")
    assert key == twin_key("http://h/a/") == twin_key("http://h/a/index.html")
    assert key not in {twin_key("http://h/a/?x"), twin_key("http://h/b"), twin_key("https://h/a")}
    assert twin_key("http://h/") == twin_key("http://h/Index.HTML")
