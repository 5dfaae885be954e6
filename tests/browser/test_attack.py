"""Titles, sources, answers and questions that mean harm: nothing runs, no layout breaks."""

from __future__ import annotations

from collections.abc import Callable

import pytest

pytest.importorskip("playwright.sync_api")
from playwright.sync_api import expect

from tests.browser.visits import Visit

Visits = Callable[..., Visit]
HANDLERS = """all => all.flatMap(element => element.getAttributeNames())
    .filter(name => name.startsWith('on'))"""
ATTACKS = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)></svg>",
    "[click](javascript:alert(1))",
    "[click](data:text/html,<script>alert(1)</script>)",
    "![x](https://tracker.example/pixel.png)",
    '[x](https://x.example/"onmouseover="alert(1))',
    "<details open ontoggle=alert(1)>",
    "`</code><script>alert(1)</script>`",
    "[1]: javascript:alert(1)\n\nsee [1]",
)


@pytest.mark.parametrize("text", ATTACKS)
def test_nothing_in_an_answer_or_a_question_runs(visit: Visits, text: str) -> None:
    one = visit().open()
    one.says(text)
    one.asked(f"Why do zebras say {text}")
    for page in (one.page, one.another_tab(one.page.url)):
        expect(page.locator("[data-question]")).to_have_text(f"Why do zebras say {text}")
        made = page.locator(".content").locator("script, img, svg, details, iframe, object")
        expect(made).to_have_count(0)
        hrefs = page.locator(".content a").evaluate_all("links => links.map(a => a.protocol)")
        assert set(hrefs) <= {"https:", "http:"}
        assert page.locator("main *").evaluate_all(HANDLERS) == []
    expect(one.page.locator(".chat-link")).to_contain_text("Why do zebras say")


def test_nothing_in_a_source_runs(visit: Visits) -> None:
    one = visit().open()
    one.says("They are [1].")
    one.asked("Why are zebras striped?")
    for page in (one.page, one.another_tab(one.page.url)):
        source = page.locator(".source").first
        expect(source.locator(".source-title")).to_contain_text("<img src=x onerror=alert(1)>")
        expect(source.locator("img")).to_have_count(0)
        source.hover()
        expect(page.get_by_role("tooltip")).to_contain_text("<img src=x")


def test_an_endless_word_stays_within_the_page(visit: Visits) -> None:
    one = visit(viewport={"width": 390, "height": 844}).open()
    one.says("x" * 100_000)
    one.asked("y" * 7_000)
    assert one.page.evaluate("document.documentElement.scrollWidth") <= 390


def test_the_page_allows_no_inline_script_and_no_other_origin(visit: Visits) -> None:
    one = visit()
    response = one.page.goto("/")
    assert response is not None
    policy = response.headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "unsafe-inline" not in policy and "unsafe-eval" not in policy
    one.page.evaluate(
        """() => { const s = document.createElement('script');
        s.textContent = 'window.ran = true'; document.body.append(s); }"""
    )
    assert one.page.evaluate("window.ran") is None
    assert any("Content Security Policy" in problem for problem in one.problems)
    one.problems.clear()


@pytest.mark.parametrize("text", ['"><script>alert(1)</script>', "\u202egnihton \u2066", "w" * 200])
def test_nothing_in_the_title_of_a_chat_runs_or_leaves_its_place(visit: Visits, text: str) -> None:
    one = visit(viewport={"width": 1000, "height": 700}).open()
    one.says("Yes.")
    one.asked("Rename me")
    row = one.page.locator(".chat-row")
    row.hover()
    one.button("Rename Rename me").click()
    one.page.get_by_label("New title").fill(text)
    one.page.keyboard.press("Enter")
    expect(row.get_by_role("link")).to_have_text(text)
    for page in (one.page, one.another_tab(one.page.url)):
        row = page.locator(".chat-row")
        expect(row.get_by_role("link")).to_have_text(text)
        row.hover()
        row.get_by_role("button", name="Delete").click()
        expect(page.locator("#delete-title")).to_have_text(text)
        box = page.locator("dialog").bounding_box()
        assert box is not None and box["width"] <= 450
        page.get_by_role("button", name="Keep it").click()
        assert page.evaluate("document.documentElement.scrollWidth") <= 1000
        assert page.locator("body *").evaluate_all(HANDLERS) == []


def test_text_that_overrides_its_direction_moves_nothing_beside_it(visit: Visits) -> None:
    one = visit().open()
    one.says("\u202eThey are [1].\n\nPlain [1].")
    one.asked("\u202eWhy are zebras striped?")
    source = one.page.locator(".source").filter(has_text="onerror").first
    title, number = (
        source.locator(name).bounding_box() for name in (".source-title", ".source-number")
    )
    assert title is not None and number is not None and title["x"] < number["x"]
    plain = one.content.locator("p").last
    chip, words = plain.locator(".chip").bounding_box(), plain.bounding_box()
    assert chip is not None and words is not None and chip["x"] > words["x"] + 20


@pytest.mark.parametrize("width", [390, 1280])
def test_endless_words_everywhere_stay_within_the_page(visit: Visits, width: int) -> None:
    one = visit(viewport={"width": width, "height": 844}).open()
    word = "x" * 100_000
    one.says(
        f"# {word}\n\n- {word} [1]\n\n| {word} | b |\n|---|---|\n| 1 | 2 |\n\n```\n{word}\n```\n"
    )
    one.asked("y" * 7_000)
    assert one.page.evaluate("document.documentElement.scrollWidth") <= width
    one.page.reload()
    expect(one.content.locator("li")).to_be_attached()
    assert one.page.evaluate("document.documentElement.scrollWidth") <= width
