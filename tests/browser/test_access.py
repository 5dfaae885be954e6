"""Everybody can use the page: keyboard, screen reader, phone, dark, right to left, no motion."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("playwright.sync_api")
from playwright.sync_api import Locator, expect

from tests.browser.visits import Visit

Visits = Callable[..., Visit]
PHONE = {"viewport": {"width": 360, "height": 740}, "is_mobile": True, "has_touch": True}
# WCAG's contrast of each text with the nearest background behind it; the lowest with its text.
LOWEST_CONTRAST = """() => {
  const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const rgba = (color) => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = (c) => { const [r, g, b] = c.map(v => v / 255)
      .map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
    return .2126 * r + .7152 * g + .0722 * b; };
  const behind = (e) => { for (; e; e = e.parentElement) {
    const c = rgba(getComputedStyle(e).backgroundColor); if (c[3] === 255) return c; } };
  let lowest = [99, ''];
  for (const e of document.querySelectorAll('body *')) {
    const text = [...e.childNodes].filter(n => n.nodeType === 3 && n.data.trim());
    if (!text.length || !e.checkVisibility() || e.closest('.unseen')) continue;
    const [a, b] = [light(rgba(getComputedStyle(e).color)), light(behind(e))];
    const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    if (ratio < lowest[0]) lowest = [ratio, text[0].data];
  }
  return lowest;
}"""


def test_a_chat_goes_from_question_to_feedback_by_keyboard_alone(visit: Visits) -> None:
    one = visit().open()
    one.says("See [1].")
    keyboard = one.page.keyboard
    expect(one.question).to_be_focused()
    keyboard.type("How do I")
    keyboard.press("Shift+Enter")
    keyboard.type("index a site?")
    keyboard.press("Enter")
    expect(one.content).to_have_text("See 1.")
    expect(one.page.locator("[data-question]")).to_have_text("How do I\nindex a site?")
    expect(one.question).to_be_focused()
    back_to(one.button("Good answer"), one)
    keyboard.press("Enter")
    expect(one.button("Good answer")).to_have_attribute("aria-pressed", "true")
    back_to(one.content.locator("a.chip"), one)
    expect(one.page.get_by_role("tooltip")).to_contain_text("Indexing")


def back_to(target: Locator, one: Visit) -> None:
    """Shift+Tab until the target has the focus."""
    for _ in range(40):
        one.page.keyboard.press("Shift+Tab")
        if target.evaluate("element => element === document.activeElement"):
            return
    raise AssertionError("the keyboard does not reach it")


def test_escape_closes_the_menu_of_exports_and_the_comment(visit: Visits) -> None:
    one = visit().open()
    one.says("Yes.")
    one.asked()
    export = one.page.locator("summary", has_text="Export")
    export.click()
    link = one.page.get_by_role("link", name="Markdown")
    link.focus()
    one.page.keyboard.press("Escape")
    expect(link).to_be_hidden()
    expect(export).to_be_focused()
    one.button("Bad answer").click()
    comment = one.page.get_by_label("What should be better?")
    expect(comment).to_be_focused()
    one.page.keyboard.type("More")
    one.page.keyboard.press("Escape")
    expect(comment).to_be_hidden()
    expect(one.button("Bad answer")).to_be_focused()
    expect(comment).to_have_value("More")


def test_a_chat_is_found_renamed_and_deleted_by_keyboard_alone(visit: Visits) -> None:
    one = visit().open()
    one.says("Yes.")
    one.asked("Find me")
    keyboard = one.page.keyboard
    back_to(one.page.get_by_label("Search your chats"), one)
    keyboard.type("find")
    keyboard.press("Tab")
    expect(one.page.get_by_role("link", name="Find me")).to_be_focused()
    keyboard.press("Tab")
    expect(one.button("Rename Find me")).to_be_focused()
    keyboard.press("Enter")
    keyboard.type("Found")
    keyboard.press("Enter")
    expect(one.button("Rename Found")).to_be_focused()
    keyboard.press("Tab")
    keyboard.press("Enter")
    expect(one.button("Keep it")).to_be_focused()
    keyboard.press("Tab")
    keyboard.press("Enter")
    expect(one.page).to_have_url(f"{one.site.url}/")


@pytest.mark.parametrize("width", [360, 1280])
def test_in_a_language_from_right_to_left_the_whole_page_is_mirrored(
    visit: Visits, width: int
) -> None:
    one = visit(viewport={"width": width, "height": 740}, reduced_motion="reduce").open()
    one.says("مرحبا [1]\n\n- واحد\n\n```\ncode\n```\n")
    one.page.evaluate("document.documentElement.dir = 'rtl'")
    one.asked("كيف؟ How do I index a site?")
    assert one.page.evaluate("document.documentElement.scrollWidth") <= width
    send, question = one.button("Ask").bounding_box(), one.question.bounding_box()
    assert send is not None and question is not None and send["x"] < question["x"]
    if width == 360:
        one.button("Your chats").click()
    chats = one.page.get_by_role("complementary", name="Your chats").bounding_box()
    assert chats is not None and chats["x"] + chats["width"] == width


def test_the_live_region_tells_what_happens_and_not_each_token(visit: Visits) -> None:
    one = visit().open()
    one.page.evaluate(
        """() => { window.told = []; const place = document.querySelector('[role=status]');
        new MutationObserver(() => told.push(place.textContent))
          .observe(place, {childList: true}); }"""
    )
    one.says(*[f"word{number} " for number in range(50)])
    one.asked()
    expect(one.page.get_by_role("status")).to_have_text("The answer is ready.")
    told = one.page.evaluate("window.told")
    assert "Answering…" in told and len(told) <= 4
    live = one.page.locator("#thread [aria-live], #thread [role=status], #thread [role=log]")
    expect(live).to_have_count(0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_the_contrast_of_aa(visit: Visits, scheme: str) -> None:
    one = visit(color_scheme=scheme).open()
    one.says("> Quote [1] with `code`\n\n| a |\n|---|\n| b |\n\n```\ncode\n```\n")
    one.asked()
    ratio, text = one.page.evaluate(LOWEST_CONTRAST)
    assert ratio >= 4.5, text


def test_on_a_phone_nothing_is_cut_off_and_the_chats_are_in_a_drawer(visit: Visits) -> None:
    one = visit(**PHONE).open()
    one.says("A table [1]:\n\n|" + " column |" * 12 + "\n|" + "---|" * 12 + "\n")
    one.asked()
    assert one.page.evaluate("document.documentElement.scrollWidth") <= 360
    drawer = one.page.get_by_role("complementary", name="Your chats")
    expect(drawer).to_be_hidden()
    one.button("Your chats").click()
    expect(drawer.get_by_role("link", name="How do I index a site?")).to_be_visible()
    one.page.keyboard.press("Escape")
    expect(drawer).to_be_hidden()
    expect(one.button("Your chats")).to_be_focused()


@pytest.mark.parametrize("how", ["Escape", "veil"])
def test_on_a_phone_the_drawer_leaves_the_answer_where_it_was_scrolled(
    visit: Visits, how: str
) -> None:
    one = visit(**PHONE).open()
    one.says("\n\n".join(["A paragraph of the answer."] * 60))
    one.asked()
    one.page.evaluate("scrollTo({top: 600, behavior: 'instant'})")
    one.page.touchscreen.tap(26, 26)  # a locator's click would scroll by itself
    expect(one.page.get_by_role("link", name="New chat")).to_be_focused()
    if how == "Escape":
        one.page.keyboard.press("Escape")
    else:
        one.page.touchscreen.tap(350, 300)
    expect(one.button("Your chats")).to_be_focused()
    assert one.page.evaluate("scrollY") == 600


def test_on_a_phone_the_documentation_is_one_column_with_its_menu_after_the_text(
    visit: Visits,
) -> None:
    one = visit(**PHONE).open("/docs/configuration/")
    text = one.page.get_by_role("main").bounding_box()
    menu = one.page.get_by_role("navigation", name="Documentation").bounding_box()
    assert text is not None and menu is not None
    assert text["width"] > 300 and menu["y"] >= text["y"] + text["height"]
    assert one.page.evaluate("document.documentElement.scrollWidth") <= 360


def test_the_button_that_copies_code_covers_none_of_it(visit: Visits) -> None:
    one = visit(**PHONE).open()
    one.says(f"```\n{'long ' * 40}\n```\n")
    one.asked()
    code = one.content.locator("pre").bounding_box()
    button = one.content.get_by_role("button", name="Copy").bounding_box()
    assert code is not None and button is not None
    assert code["x"] + code["width"] <= button["x"]


def test_at_twice_the_size_nothing_is_cut_off(visit: Visits) -> None:
    one = visit(viewport={"width": 640, "height": 400}, device_scale_factor=2).open()
    one.says("See [1].")
    one.asked()
    assert one.page.evaluate("document.documentElement.scrollWidth") <= 640
    expect(one.button("Ask")).to_be_in_viewport()


def test_text_from_right_to_left_is_set_so(visit: Visits) -> None:
    one = visit().open()
    one.says("مرحبا بالعالم [1]\n\nEnglish here.")
    one.asked("كيف أفهرس موقعا؟ How do I index a site?")
    direction = "element => getComputedStyle(element).direction"
    assert one.content.locator("p").first.evaluate(direction) == "rtl"
    assert one.content.locator("p").last.evaluate(direction) == "ltr"
    assert one.page.locator("[data-question]").evaluate(direction) == "rtl"


def test_nothing_moves_for_those_who_want_no_motion(visit: Visits) -> None:
    one = visit(reduced_motion="reduce").open()
    with one.says_and_waits("Wait"):
        one.ask()
        pulse = one.answer.locator(".pulse")
        expect(pulse).to_be_visible()
        assert pulse.evaluate("e => getComputedStyle(e).animationName") == "none"
    expect(one.content).to_have_text(re.compile("Done"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [(1280, 800), (360, 740)])
def test_axe_finds_nothing_to_complain_of(
    visit: Visits, scheme: str, size: tuple[int, int]
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    viewport = {"width": size[0], "height": size[1]}
    one = visit(color_scheme=scheme, viewport=viewport, reduced_motion="reduce").open()
    assert complaints(axe, one) == []
    with one.says_and_waits("Being written [1]"):
        one.ask()
        expect(one.content).to_have_text("Being written 1")
        assert complaints(axe, one) == []
    expect(one.content).to_have_text("Being written 1 Done.")
    one.says("# Head\n\n- [1]\n\n| a |\n|---|\n| b |\n\n```\ncode\n```\n\n> quote")
    one.button("Answer again").click()
    expect(one.content.locator("pre")).to_be_visible()
    one.button("Bad answer").click()
    one.context.set_offline(True)
    one.ask()
    expect(one.notice).to_be_visible()
    assert complaints(axe, one) == []


def complaints(axe: Any, one: Visit) -> list[str]:
    found = axe.run(one.page).response["violations"]
    return [f"{each['id']}: {node['html']}" for each in found for node in each["nodes"]]
