"""Pictures of the site for docs/images/: `make screenshots`.

A real server over the project's own documentation, asked a real question in Chromium. The pictures
show what it answered.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from tests.live import ROOT, Server, environment, serve

IMAGES = ROOT / "docs" / "images"
QUESTION = "How do I index a site?"
FOLLOW_UP = "What does a second sync cost?"
DESKTOP = {"viewport": {"width": 1200, "height": 750}}
PHONE = {"viewport": {"width": 390, "height": 780}, "is_mobile": True, "has_touch": True}


def main() -> None:
    IMAGES.mkdir(exist_ok=True)
    with site() as server, sync_playwright() as playwright:
        chromium = shutil.which("chromium") or shutil.which("chromium-browser")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        take(browser, server, "desktop", chat, **DESKTOP)
        take(browser, server, "dark", chat, color_scheme="dark", **DESKTOP)
        take(browser, server, "phone", chat, **PHONE)
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


def chat(page: Page) -> None:
    page.goto("/")
    ask(page, QUESTION, 1)
    ask(page, FOLLOW_UP, 2)


def ask(page: Page, question: str, answers: int) -> None:
    page.get_by_label("Your question").fill(question)
    page.keyboard.press("Enter")
    page.locator("article[data-message]").nth(answers - 1).wait_for(timeout=60_000)


@contextmanager
def site() -> Iterator[Server]:
    with tempfile.TemporaryDirectory() as folder:
        var_dir = Path(folder) / "var"
        var_dir.mkdir()
        manage(var_dir, "migrate", "--verbosity", "0")
        with serve(var_dir) as server:
            docs = ("--base-url", f"{server.url}/docs/", "--strip-suffix")
            manage(var_dir, "sync", str(ROOT / "docs"), *docs)
            yield server


def manage(var_dir: Path, *arguments: str) -> None:
    subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=environment(var_dir, "fastrag_site.settings", None),
        check=True,
    )


if __name__ == "__main__":
    main()
