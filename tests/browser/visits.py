"""What a visitor of the page does and sees, in the words of the tests."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.live import Server
from tests.upstream import DONE, HEAD, Step, Until, Upstream, answer, finish, token

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Locator, Page

NETWORK = ("Failed to load resource", "net::ERR")


@dataclass(kw_only=True)
class Visit:
    context: BrowserContext
    page: Page
    site: Server
    model: Upstream
    problems: list[str] = field(default_factory=list)

    @classmethod
    def start(cls, browser: Browser, site: Server, model: Upstream, **options: Any) -> Visit:
        options.setdefault("viewport", {"width": 1280, "height": 800})
        context = browser.new_context(base_url=site.url, **options)
        context.set_default_timeout(15_000)
        visit = cls(context=context, page=context.new_page(), site=site, model=model)
        visit.listen(visit.page)
        return visit

    def listen(self, page: Page) -> Page:
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("console", self._hear)
        page.on("dialog", lambda dialog: self.problems.append(f"dialog: {dialog.message}"))
        return page

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type == "error" and not any(part in message.text for part in NETWORK):
            self.problems.append(message.text)

    def another_tab(self, path: str) -> Page:
        page = self.listen(self.context.new_page())
        page.goto(path)
        return page

    # What the model says

    def says(self, *texts: str) -> None:
        self._plays(answer(*texts))

    def plays(self, *steps: Step) -> None:
        self._plays(steps)

    @contextmanager
    def says_and_waits(self, *texts: str, then: str = " Done.") -> Iterator[threading.Event]:
        """Says `texts`, and goes on once the event is set, at the latest at the end."""
        go_on = threading.Event()
        self._plays([HEAD, *map(token, texts), Until(go_on), token(then), finish(), DONE])
        try:
            yield go_on
        finally:
            go_on.set()

    def _plays(self, script: Any) -> None:
        self.model.requests.clear()
        self.model.scripts = [script]

    # What the visitor does

    def open(self, path: str = "/") -> Visit:
        self.page.goto(path)
        return self

    def ask(self, text: str = "How do I index a site?") -> Visit:
        self.question.fill(text)
        self.question.press("Enter")
        return self

    def asked(self, text: str = "How do I index a site?") -> Visit:
        """Ask and see the answer to its end."""
        before = self.page.locator("article[data-message]").count()
        self.ask(text)
        self.page.locator("article[data-message]").nth(before).wait_for()
        return self

    # What the visitor sees

    @property
    def question(self) -> Locator:
        return self.page.get_by_label("Your question")

    @property
    def answer(self) -> Locator:
        return self.page.locator("article.answer").last

    @property
    def content(self) -> Locator:
        return self.answer.locator(".content").first

    @property
    def notice(self) -> Locator:
        return self.page.get_by_role("alert")

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name, exact=True)
