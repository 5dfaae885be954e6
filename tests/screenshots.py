"""Pictures of the site for docs/images/: `make screenshots`.

A real server over the project's own documentation, asked a real question in Chromium. The pictures
show what it answered.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, FrameLocator, Page, expect, sync_playwright

from tests.browser.other_sites import OtherSite, other_site
from tests.live import ROOT, Server, environment, serve

IMAGES = ROOT / "docs" / "images"
QUESTION = "How do I index a site?"
FOLLOW_UP = "What happens when a page changes?"
DESKTOP = {"viewport": {"width": 1200, "height": 900}}
PHONE = {"viewport": {"width": 390, "height": 780}, "is_mobile": True, "has_touch": True}


PANEL = {"viewport": {"width": 1000, "height": 760}}
ADMIN = {"DJANGO_SUPERUSER_PASSWORD": "only-for-pictures", "DJANGO_SUPERUSER_EMAIL": ""}
ELSEWHERE = """body { margin: 48px auto; max-width: 860px; font: 16px/1.6 system-ui, sans-serif;
color: #23272d; background: #fff } main { max-width: 380px } h1 { line-height: 1.2 }"""
WORDS = """<h1>Your site</h1><p>This is any page of yours. One script tag puts the button on it;
the panel beside these words is a frame.</p><p>It speaks the language of the page around it, and
takes its colours from the tag.</p>"""


def main() -> None:
    IMAGES.mkdir(exist_ok=True)
    with other_site() as other, site(other) as server, sync_playwright() as playwright:
        chromium = shutil.which("chromium") or shutil.which("chromium-browser")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        take(browser, server, "desktop", chat, **DESKTOP)
        take(browser, server, "dark", chat, color_scheme="dark", **DESKTOP)
        take(browser, server, "phone", first_answer, **PHONE)
        other.shows(f"{server.url}/widget.js", 'data-accent="#0f766e"', style=ELSEWHERE, body=WORDS)
        take(browser, server, "widget", lambda page: widget(page, other), **PANEL)
        take(browser, server, "admin", admin, viewport={"width": 1500, "height": 850})
        browser.close()


def take(
    browser: Browser, server: Server, name: str, show: Callable[[Page], None], **options: Any
) -> None:
    with browser.new_context(
        base_url=server.url, reduced_motion="reduce", locale="en-GB", **options
    ) as context:
        page = context.new_page()
        show(page)
        page.screenshot(path=IMAGES / f"{name}.png")


def first_answer(page: Page) -> None:
    page.goto("/")
    ask(page, FOLLOW_UP, 1)
    page.evaluate("window.scrollTo(0, 0)")


def chat(page: Page) -> None:
    page.goto("/")
    ask(page, QUESTION, 1)
    ask(page, FOLLOW_UP, 2)


def widget(page: Page, other: OtherSite) -> None:
    page.goto(other.origin() + "/")
    page.locator("fastrag-widget button").click()
    frame = page.frame_locator("fastrag-widget iframe")
    expect(frame.get_by_label("Your question")).to_be_focused(timeout=30_000)
    ask(frame, FOLLOW_UP, 1)


def admin(page: Page) -> None:
    page.goto("/admin/retrieval/site/")
    page.get_by_label("Username").fill("admin")
    page.get_by_label("Password").fill(ADMIN["DJANGO_SUPERUSER_PASSWORD"])
    page.keyboard.press("Enter")
    page.locator("#result_list").wait_for()


def ask(page: Page | FrameLocator, question: str, answers: int) -> None:
    field = page.get_by_label("Your question")
    field.fill(question)
    field.press("Enter")
    page.locator("article[data-message]").nth(answers - 1).wait_for(timeout=60_000)


@contextmanager
def site(other: OtherSite) -> Iterator[Server]:
    with tempfile.TemporaryDirectory() as folder:
        var_dir = Path(folder) / "var"
        var_dir.mkdir()
        manage(var_dir, "migrate", "--verbosity", "0")
        manage(var_dir, "createsuperuser", "--noinput", "--username", "admin", variables=ADMIN)
        origins = {"FASTRAG_WIDGET_ORIGINS": json.dumps([other.origin()])}
        with serve(var_dir, env=origins) as server:
            manage(var_dir, "sync", f"{server.url}/docs/")
            yield server


def manage(var_dir: Path, *arguments: str, variables: Mapping[str, str] | None = None) -> None:
    subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=environment(var_dir, "fastrag_site.settings", variables),
        check=True,
    )


if __name__ == "__main__":
    main()
