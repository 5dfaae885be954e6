"""Which element is the content, on pages of common makes."""

from __future__ import annotations

import pytest

from tests.retrieval.ingest.documents import page, texts

TEXT = "<p>The content of this page in a sentence of some length.</p>"
CONTENT = ["The content of this page in a sentence of some length."]
SIDE = "<div><ul><li>Side</li></ul></div>"


@pytest.mark.parametrize(
    "markup",
    [
        f"{SIDE}<main>{TEXT}</main>{SIDE}",
        f'{SIDE}<div role="main">{TEXT}</div>',
        f"{SIDE}<article>{TEXT}</article>",
        f'{SIDE}<div class="document"><div class="body">{TEXT}</div></div>',
        f'<main>{SIDE}<article class="md-content__inner">{TEXT}</article></main>',
        f'<div class="repo">{SIDE}</div><div class="markdown-body">{TEXT}</div>',
        f'<main></main>{SIDE}<div id="content">{TEXT}</div>',
    ],
)
def test_the_marked_element_is_the_content(markup: str) -> None:
    assert texts(page(markup)) == CONTENT


def test_without_a_mark_the_densest_part_is_the_content() -> None:
    links = "".join(f'<li><a href="/{n}">A page about number {n}</a></li>' for n in range(30))
    markup = (
        f"<div><div><ul>{links}</ul></div><div><div>{TEXT * 5}</div></div></div><div>By me</div>"
    )
    assert texts(page(markup)) == CONTENT * 5


def test_articles_of_equal_weight_are_all_content() -> None:
    article = f"<article><h2>News</h2>{TEXT}</article>"
    assert texts(page(f"<main>{article * 3}</main>")) == ["News", *CONTENT] * 3


def test_a_page_of_one_paragraph_is_content() -> None:
    assert texts(page("Hello, world")) == ["Hello, world"]


def test_a_body_that_a_script_reveals_is_read() -> None:
    document = page("")
    assert document.blocks == ()
    hidden = '<html><body style="display:none"><p>Shown soon</p></body></html>'
    assert texts(page(hidden)) == ["Shown soon"]
