"""Markdown of answers → HTML: what is shown, what becomes a link, and what never gets through."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chats.presenting import SourceShown
from chats.rendering import answer_html, with_links

ONE = SourceShown(
    numbers=(1,),
    href="https://a.example/#:~:text=x%2Dy",
    title='A "page" <b>',
    site="a.example",
    icon="",
    snippet="x-y",
)
CITED = {1: ONE}


def test_a_known_number_links_to_its_passage() -> None:
    html = answer_html("See [1].", CITED)
    assert 'class="chip" href="https://a.example/#:~:text=x%2Dy" target="_blank"' in html
    assert 'rel="noopener noreferrer nofollow"' in html
    assert 'aria-label="Source 1: A &quot;page&quot; &lt;b&gt;"' in html


@pytest.mark.parametrize("text", ["[2]", "`[1]`", "\\[1\\]", "```\n[1]\n```", "    [1]", "[99999]"])
def test_unknown_numbers_code_and_escaped_brackets_stay_text(text: str) -> None:
    assert "chip" not in answer_html(text, CITED)


def test_a_definition_in_the_answer_does_not_take_a_number_over() -> None:
    html = answer_html("[1]: https://evil.example\n\nSee [1].", CITED)
    assert "https://a.example/" in html and 'href="https://evil' not in html


def test_neighbouring_numbers_each_become_a_chip() -> None:
    two = {1: ONE, 2: replace(ONE, numbers=(2,))}
    assert answer_html("[1][2]", two).count('class="chip"') == 2


def test_a_source_that_is_no_web_page_is_shown_without_a_link() -> None:
    html = answer_html("See [1].", {1: replace(ONE, href="")})
    assert '<span class="chip"' in html and "href" not in html


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[a](javascript:alert(1))",
        "[a](<java\nscript:alert(1)>)",
        "![a](https://tracker.example/x.png)",
        "[a](data:text/html,x)",
    ],
)
def test_nothing_that_runs_or_loads_gets_through(text: str) -> None:
    html = answer_html(text, CITED)
    for bad in ("<script", "<img", 'href="javascript', 'href="data'):
        assert bad not in html


def test_blocks_find_their_own_direction() -> None:
    assert '<p dir="auto">' in answer_html("text", CITED)
    assert '<ul dir="auto">' in answer_html("- text", CITED)


def test_copied_markdown_links_known_numbers_outside_of_code() -> None:
    text = "[1] `[1]` [2]\n```\n[1]\n```"
    linked = "[\\[1\\]](https://a.example/#:~:text=x%2Dy)"
    assert with_links(text, CITED) == f"{linked} `[1]` [2]\n```\n[1]\n```"


@pytest.mark.parametrize(
    "text",
    [
        "Run:\n\n    x[1]\n",
        "- a\n\n  ~~~\n  [1]\n  ~~~\n",
        "> ```\n> [1]\n",
        "[1](https://own.example/a_(b))",
        "[see [1]](https://own.example/)",
        "\\[1]",
    ],
)
def test_code_and_the_models_own_links_are_copied_as_they_are(text: str) -> None:
    assert with_links(text, CITED) == text


def test_a_lone_tick_hides_no_citation_of_the_next_paragraph() -> None:
    assert with_links("a ` b\n\n[1] ` c", CITED).count("](https://a.example/") == 1
