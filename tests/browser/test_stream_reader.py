"""stream.js and citations.js by themselves: bytes and texts that are cut anywhere."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

pytest.importorskip("playwright.sync_api")
from playwright.sync_api import Browser, Page

from tests.live import Server

DECODE = """async ([bytes, size]) => {
  const { EventStreamDecoder } = await import('/static/chats/stream.js');
  const decoder = new EventStreamDecoder(), found = [];
  for (let at = 0; at < bytes.length; at += size)
    found.push(...decoder.feed(new Uint8Array(bytes.slice(at, at + size))));
  return found;
}"""
SCAN = """async ([text, size]) => {
  const { CitationScanner } = await import('/static/chats/citations.js');
  const scanner = new CitationScanner([1, 12]), parts = [];
  for (let at = 0; at < text.length; at += size)
    parts.push(...scanner.feed(text.slice(at, at + size)));
  parts.push(...scanner.end());
  return parts.map(part => typeof part === 'string' ? part : `<${part.number}>`).join('');
}"""
LINK = """async (source) => (await import('/static/chats/links.js')).passageLink(source)"""
ENCODED = 'event: délta\r\ndata: {"a":"é\u2028😀"}\r\n\r\n: note\n\nevent:x\rdata: 1\rdata:2\r\r'


@pytest.fixture(scope="module")
def page(browser: Browser, site: Server) -> Iterator[Page]:
    with browser.new_page(base_url=site.url) as page:
        page.goto("/docs/")
        yield page


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize("start", ["", "\ufeff"])
def test_events_are_the_same_however_the_bytes_are_cut(page: Page, size: int, start: str) -> None:
    assert page.evaluate(DECODE, [list((start + ENCODED).encode()), size]) == [
        {
            "name": "délta",
            "data": json.dumps({"a": "é\u2028😀"}, ensure_ascii=False, separators=(",", ":")),
        },
        {"name": "x", "data": "1\n2"},
    ]


@pytest.mark.parametrize("size", [1, 2, 5, 1000])
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a [1] b [12].", "a <1> b <12>."),
        ("[2] [x] [123456] [", "[2] [x] [123456] ["),
        ("`[1]` [1]", "`[1]` <1>"),
        ("```\n[1]\n\n[1]\n```\n[1]", "```\n[1]\n\n[1]\n```\n<1>"),
        ("```\n[1]\n``` [1]", "```\n[1]\n``` [1]"),
        ("```[1]``` [1]", "```[1]``` <1>"),
        ("~~~\n[1]\n```\n~~~\n[1]", "~~~\n[1]\n```\n~~~\n<1>"),
        ("- a [1]\n\n  ```\n  [1]\n  ```\n- [1]", "- a <1>\n\n  ```\n  [1]\n  ```\n- <1>"),
        ("1. ~~~\n   [1]\n\nb [1]", "1. ~~~\n   [1]\n\nb <1>"),
        ("> ```\n> [1]\n\n[1]", "> ```\n> [1]\n\n<1>"),
        ("Run [1]:\n\n    x[1]\n\n[1]", "Run <1>:\n\n    x[1]\n\n<1>"),
        ("Run\n    on [1]\n# head\n\t[1]", "Run\n    on <1>\n# head\n\t[1]"),
        ("- a\n\n    b [1]\n\n      [1]", "- a\n\n    b <1>\n\n      [1]"),
        ("- a\n---\n    [1]", "- a\n---\n    [1]"),
        ("lone ` tick\n\n[1]", "lone ` tick\n\n<1>"),
        ("[1][12]", "<1><12>"),
    ],
)
def test_citations_are_found_however_the_text_is_cut(
    page: Page, text: str, shown: str, size: int
) -> None:
    assert page.evaluate(SCAN, [text, size]) == shown


@pytest.mark.parametrize(
    ("url", "fragments", "link"),
    [
        (
            "https://a.example/",
            [["x-y, z", "é&(1)"]],
            "https://a.example/#:~:text=x%2Dy%2C%20z,%C3%A9%26%281%29",
        ),
        ("https://a.example/#s", [["a", None], ["b", ""]], "https://a.example/#s:~:text=a&text=b"),
        ("https://a.example/", [], "https://a.example/"),
        ("javascript:alert(1)", [["a", "b"]], ""),
        ("JAVASCRIPT://x", [], ""),
    ],
)
def test_links_lead_to_passages_of_web_pages_alone(
    page: Page, url: str, fragments: list[list[str | None]], link: str
) -> None:
    source = {"url": url, "fragments": [{"start": start, "end": end} for start, end in fragments]}
    assert page.evaluate(LINK, source) == link
