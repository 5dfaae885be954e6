"""A link opened in Chromium: what it highlights there, and where the cited passages stand.

Below: landing.js, which runs in the page. Above: fragments. Chromium itself tells the ranges that
it highlights (`FragmentDirective.items`, an experimental feature); that a reader sees them there,
and nothing else highlighted, is proven by a screenshot in which the highlight alone has its colour.
"""

from __future__ import annotations

import base64
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, ViewportSize, sync_playwright

HERE = Path(__file__).resolve().parent
LANDING = (HERE / "landing.js").read_text()
PAINTED = (HERE / "painted.js").read_text()
PATIENCE = 20_000  # milliseconds
HALF = 0.5  # of a passage: a highlight begins before it
SIZE: ViewportSize = {"width": 1280, "height": 720}
# Nothing is asked of any other host.
ARGUMENTS = (
    "--no-sandbox",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--enable-blink-features=TextFragmentAPI",
)
COLOUR = "rgb(255, 0, 254)"
MARKING = f"""addEventListener("DOMContentLoaded", () => {{
  const style = document.createElement("style");
  style.textContent =
    "::target-text {{ background: {COLOUR} !important; color: black !important }}";
  document.head.append(style);
}})"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A passage's place on the page, in characters that are no white space.

    `exact`: there is one place where it can be; else the passage lies between `start` and `end`.
    """

    start: int
    end: int
    exact: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Landing:
    """`found` and `cited` are parallel: one for each text of the link."""

    found: tuple[tuple[int, int] | None, ...]
    texts: tuple[str | None, ...]
    cited: tuple[Place | None, ...]
    scrolled: float
    shown: bool  # the first text that was found is in the window, and painted
    stray: int  # highlighted pixels where no text was found


def is_right(found: tuple[int, int] | None, place: Place | None) -> bool:
    """Within the passage, and from its first half on."""
    if found is None or place is None:
        return False
    start, end = found
    is_early = start - place.start <= HALF * (place.end - place.start)
    return place.start <= start < end <= place.end and is_early


class Browser:
    """One window, in which links are opened as if typed: each a navigation of its own."""

    def __init__(self, page: Page, eye: Page) -> None:
        self.page, self._eye = page, eye

    def open(self, link: str, passages: Sequence[str], cited: Sequence[tuple[int, int]]) -> Landing:
        """`passages`: all of the page, in its order; `cited`: first and last of each text."""
        self.page.goto("about:blank")
        self.page.goto(link, wait_until="load")
        asked = {"passages": passages, "cited": cited, "patience": PATIENCE}
        told = self.page.evaluate(LANDING, asked)
        first: list[list[float]] = next((rects for rects in told["rects"] if rects), [])
        painted = self._painted([rect for rects in told["rects"] for rect in rects])
        return Landing(
            found=tuple(told["found"] and (tuple(one) if one else None for one in told["found"])),
            texts=tuple(told["texts"]),
            cited=tuple(map(_place, told["cited"])),
            scrolled=told["scrolled"],
            shown=any(map(_is_in_window, first)) and painted["inside"] > 0,
            stray=painted["outside"],
        )

    def _painted(self, rects: Sequence[Sequence[float]]) -> dict[str, int]:
        png = base64.b64encode(self.page.screenshot()).decode()
        near = [rect for rect in rects if -rect[3] <= rect[1] <= SIZE["height"]]
        counted: dict[str, int] = self._eye.evaluate(
            PAINTED, {"png": png, "rects": near, "colour": COLOUR}
        )
        return counted


def _place(told: dict[str, Any] | None) -> Place | None:
    if told is None:
        return None
    return Place(start=told["from"], end=told["to"], exact=told["exact"])


def _is_in_window(rect: Sequence[float]) -> bool:
    left, top, width, height = rect
    across = left < SIZE["width"] and left + width > 0
    return across and width > 0 and 0 <= top + height / 2 <= SIZE["height"]


@contextmanager
def chromium() -> Iterator[Browser]:
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        raise SystemExit("Chromium is missing; try: apt-get install -y chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        try:
            context = browser.new_context(viewport=SIZE)
            context.set_default_timeout(60_000)
            eye = context.new_page()
            context.add_init_script(MARKING)
            yield Browser(context.new_page(), eye)
        finally:
            browser.close()
