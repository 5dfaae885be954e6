"""The widget on other sites: asks, closes, looks as asked, and is shown where it may be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

pytest.importorskip("playwright.sync_api")
from playwright.sync_api import FrameLocator, Locator, Page, expect

from tests.browser.other_sites import OtherSite, other_site
from tests.browser.test_access import LOWEST_CONTRAST, PHONE, complaints
from tests.browser.test_attack import ATTACKS, HANDLERS
from tests.browser.visits import Visit

Visits = Callable[..., Visit]
HOSTILE = """* { all: unset !important; display: none !important; font-size: 40px !important;
  transform: rotate(9deg) !important; pointer-events: none !important; color: red !important }
html, body { display: block !important; font-size: 3px !important; pointer-events: auto !important }
iframe, button, div { width: 1px !important; height: 1px !important; opacity: 0 !important }"""


NO_COOKIES = "Object.defineProperty(Document.prototype, 'cookie', {get: () => '', set: () => {}})"


@dataclass(kw_only=True)
class Shown:
    visit: Visit
    other: OtherSite

    @property
    def page(self) -> Page:
        return self.visit.page

    @property
    def button(self) -> Locator:
        return self.page.locator("fastrag-widget button")

    @property
    def panel(self) -> Locator:
        return self.page.locator("fastrag-widget .panel")

    @property
    def frame(self) -> FrameLocator:
        return self.page.frame_locator("fastrag-widget iframe")

    @property
    def question(self) -> Locator:
        return self.frame.locator("#question")

    @property
    def content(self) -> Locator:
        return self.frame.locator(".content")

    def open(self, host: str = "localhost") -> Shown:
        self.page.goto(self.other.origin(host) + "/")
        return self

    def asked(self, text: str = "How do I index a site?") -> Shown:
        expect(self.question).to_be_focused()
        before = self.frame.locator("article[data-message]").count()
        self.question.fill(text)
        self.question.press("Enter")
        self.frame.locator("article[data-message]").nth(before).wait_for()
        return self


@pytest.fixture
def show(visit: Visits, other: OtherSite) -> Callable[..., Shown]:
    def start(attributes: str = "", *, style: str = "", **options: object) -> Shown:
        one = visit(**options)
        other.shows(f"{one.site.url}/widget.js", attributes, style=style)
        return Shown(visit=one, other=other)

    return start


@pytest.mark.parametrize(("host", "has_cookies"), [("localhost", True), ("127.0.0.1", False)])
def test_a_chat_is_held_and_found_again_on_another_site(
    show: Callable[..., Shown], host: str, has_cookies: bool
) -> None:
    """In a browser with partitioned cookies, and in one that has only storage."""
    one = show()
    if not has_cookies:
        one.page.add_init_script(NO_COOKIES)
    one.open(host)
    one.visit.says("First [1].")
    one.button.click()
    expect(one.question).to_be_focused()
    one.asked()
    expect(one.content).to_have_text("First 1.")
    one.visit.says("Second.")
    one.asked("And how often?")
    expect(one.content).to_have_text(["First 1.", "Second."])
    one.page.reload()
    one.button.click()
    expect(one.content).to_have_text(["First 1.", "Second."])
    one.frame.get_by_role("button", name="Your chats").click()
    one.frame.get_by_role("link", name="New chat").click()
    expect(one.content).to_have_count(0)
    one.frame.get_by_role("button", name="Your chats").click()
    one.frame.get_by_role("link", name="How do I index a site?").click()
    expect(one.content).to_have_text(["First 1.", "Second."])
    assert "sessionid" not in {cookie["name"] for cookie in one.visit.context.cookies()}


def test_a_chat_of_one_site_is_not_shown_on_another(show: Callable[..., Shown]) -> None:
    one = show().open("localhost")
    one.visit.says("Mine.")
    one.button.click()
    one.asked()
    one.open("127.0.0.1").button.click()
    one.frame.get_by_role("button", name="Your chats").click()
    expect(one.frame.get_by_text("Your chats appear here.")).to_be_visible()


def test_a_token_that_the_server_does_not_take_any_more_is_replaced(
    show: Callable[..., Shown],
) -> None:
    one = show().open()
    one.button.click()
    expect(one.question).to_be_focused()
    frame = next(frame for frame in one.page.frames if "/embed/" in frame.url)
    scope = "Path=/embed/; Secure; SameSite=None; Partitioned"
    frame.evaluate(f"document.cookie = 'fastrag-visitor=of.an.old:key; {scope}'")
    one.page.reload()
    one.button.click()
    expect(one.frame.get_by_text("Your chats appear here.")).to_be_attached()
    one.visit.says("Here.")
    one.asked()
    expect(one.content).to_have_text("Here.")


def test_a_site_that_is_not_listed_cannot_show_it(show: Callable[..., Shown]) -> None:
    with other_site() as stranger:
        one = show()
        stranger.page = one.other.page
        one.page.goto(stranger.origin() + "/")
        with one.page.expect_event("console", lambda message: "frame-ancestors" in message.text):
            one.button.click()
        expect(one.question).to_have_count(0)
        one.visit.problems.clear()


def test_a_listed_site_cannot_frame_the_page_itself(show: Callable[..., Shown]) -> None:
    one = show()
    one.other.page = f'<!doctype html><iframe src="{one.visit.site.url}/"></iframe>'
    with one.page.expect_event("console", lambda message: "frame-ancestors" in message.text):
        one.open()
    expect(one.page.frame_locator("iframe").locator("#question")).to_have_count(0)
    one.visit.problems.clear()


def test_by_keyboard_it_opens_closes_with_escape_and_gives_the_focus_back(
    show: Callable[..., Shown],
) -> None:
    one = show().open()
    one.page.keyboard.press("Tab")
    expect(one.button).to_be_focused()
    expect(one.button).to_have_attribute("aria-expanded", "false")
    one.page.keyboard.press("Enter")
    expect(one.question).to_be_focused()
    expect(one.button).to_have_attribute("aria-expanded", "true")
    one.page.keyboard.press("Escape")
    expect(one.panel).to_be_hidden()
    expect(one.button).to_be_focused()
    one.page.keyboard.press("Enter")
    expect(one.question).to_be_focused()


def test_escape_closes_what_lies_above_before_the_panel(show: Callable[..., Shown]) -> None:
    one = show().open()
    one.button.click()
    expect(one.question).to_be_focused()
    one.frame.get_by_role("button", name="Your chats").click()
    expect(one.frame.get_by_role("link", name="New chat")).to_be_focused()
    one.page.keyboard.press("Escape")
    expect(one.frame.get_by_role("link", name="New chat")).to_be_hidden()
    expect(one.panel).to_be_visible()
    one.page.keyboard.press("Escape")
    expect(one.panel).to_be_hidden()


def test_it_speaks_and_looks_as_its_attributes_ask(show: Callable[..., Shown]) -> None:
    attributes = (
        'data-theme="dark" data-accent="#ffd000" data-position="left" data-lang="es" '
        'data-title="Ayuda &lt;b&gt;"'
    )
    one = show(attributes, color_scheme="light").open()
    expect(one.button).to_have_text("Ayuda <b>")
    expect(one.button).to_have_css("background-color", "rgb(255, 208, 0)")
    expect(one.button).to_have_css("color", "rgb(0, 0, 0)")
    box = one.button.bounding_box()
    assert box is not None and box["x"] == 20
    one.button.click()
    expect(one.frame.locator(".brand")).to_have_text("Ayuda <b>")
    expect(one.frame.locator("html")).to_have_attribute("lang", "es")
    expect(one.frame.locator("body")).to_have_css("background-color", "rgb(22, 24, 27)")
    expect(one.frame.locator("#send")).to_have_css("background-color", "rgb(255, 208, 0)")
    one.visit.says("Hola [1].")
    one.asked()
    expect(one.frame.locator("[data-act=up]")).to_have_attribute("aria-label", "Buena respuesta")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_without_attributes_it_follows_the_site_and_the_system(
    show: Callable[..., Shown], scheme: str
) -> None:
    one = show(color_scheme=scheme, locale="es-ES").open()
    expect(one.button).to_have_text("Ask")  # the site around it is in English
    one.button.click()
    page = "rgb(253, 253, 252)" if scheme == "light" else "rgb(22, 24, 27)"
    expect(one.frame.locator("body")).to_have_css("background-color", page)


@pytest.mark.parametrize("accent", ["#ffd000", "#ffffff", "#000000", "#d81b60"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_any_accent_can_be_read(show: Callable[..., Shown], accent: str, theme: str) -> None:
    one = show(f'data-theme="{theme}" data-accent="{accent}"').open()
    one.visit.says("See [1].")
    one.button.click()
    one.asked()
    frame = next(frame for frame in one.page.frames if "/embed/" in frame.url)
    ratio, text = frame.evaluate(LOWEST_CONTRAST)
    assert ratio >= 4.5, text


def test_on_a_phone_the_panel_fills_the_screen_and_can_be_closed(
    show: Callable[..., Shown],
) -> None:
    one = show(**PHONE).open()
    one.visit.says("See [1].")
    one.button.tap()
    one.asked()
    box = one.panel.bounding_box()
    assert box == {"x": 0, "y": 0, "width": 360, "height": 740}
    one.frame.get_by_role("button", name="Close", exact=True).tap()
    expect(one.panel).to_be_hidden()
    expect(one.button).to_be_in_viewport(ratio=1)


def test_the_styles_and_the_policy_of_the_site_around_it_do_not_reach_it(
    show: Callable[..., Shown],
) -> None:
    plain = show().open().button.bounding_box()
    one = show(style=HOSTILE)
    one.other.headers = {
        "Content-Security-Policy": f"default-src 'none'; style-src 'unsafe-inline'; "
        f"script-src {one.visit.site.url}; frame-src {one.visit.site.url}; "
        "require-trusted-types-for 'script'"
    }
    one.open()
    assert one.button.bounding_box() == plain
    one.visit.says("Here.")
    one.button.click()
    one.asked()
    expect(one.content).to_have_text("Here.")
    box = one.panel.bounding_box()
    assert box is not None and box["width"] == 420


def test_nothing_runs_in_the_widget_and_nothing_leaves_its_panel(
    show: Callable[..., Shown],
) -> None:
    title = "&lt;img src=x onerror=alert(1)&gt;"
    one = show(f'data-title="{title}" data-accent="red;}}" data-lang="../x" data-theme="</style>"')
    one.open()
    expect(one.button).to_have_text("<img src=x onerror=alert(1)>")
    one.button.click()
    one.visit.says("\n\n".join([*ATTACKS, "x" * 100_000]))
    one.asked("Why do zebras say <script>alert(1)</script>?")
    for place in (".content", ".question", ".bar .brand span"):
        made = one.frame.locator(place).locator("script, img, svg, details, iframe, object")
        expect(made).to_have_count(0)
    frame = next(frame for frame in one.page.frames if "/embed/" in frame.url)
    assert frame.locator("body *").evaluate_all(HANDLERS) == []
    assert frame.evaluate("document.documentElement.scrollWidth") <= 420
    links = frame.locator(".content a").evaluate_all("links => links.map(a => a.protocol)")
    assert set(links) <= {"https:", "http:"}


def test_other_windows_cannot_close_the_panel(show: Callable[..., Shown]) -> None:
    one = show().open()
    one.button.click()
    expect(one.question).to_be_focused()
    one.page.evaluate("window.postMessage({ fastrag: 'close' }, '*')")
    expect(one.panel).to_be_visible()


def test_twice_the_same_script_makes_no_fault(show: Callable[..., Shown]) -> None:
    one = show()
    script = f'<script src="{one.visit.site.url}/widget.js"></script>'
    one.other.page = one.other.page.replace("</body>", f"{script}</body>")
    one.open()
    expect(one.button).to_have_count(1)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_to_complain_of(show: Callable[..., Shown], scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    one = show(color_scheme=scheme, reduced_motion="reduce").open()
    assert complaints(axe, one.visit) == []
    one.visit.says("# Head\n\n- [1]")
    one.button.click()
    one.asked()
    assert complaints(axe, one.visit) == []
