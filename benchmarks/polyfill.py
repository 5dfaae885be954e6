"""The independent text-fragments-polyfill on pages that were landed on.

Below: polyfill.js, landing. Above: fragments. It is fetched by
npm into node_modules here, and served to the pages from there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

from playwright.sync_api import Route

from benchmarks.cited_pages import Link
from benchmarks.landing import HERE, Browser, Landing, is_right

if TYPE_CHECKING:
    from collections.abc import Mapping

FOLDER = HERE / "node_modules" / "text-fragments-polyfill"
COMPARING = (HERE / "polyfill.js").read_text()
PATIENCE = 10_000  # milliseconds, to find terms for one passage
INSTALL = """text-fragments-polyfill is missing. Install Node 20 or newer, with npm, and then run
  npm ci --prefix benchmarks
or leave this comparison out with --no-polyfill"""


@dataclass(kw_only=True)
class Agreement:
    """Over the links compared: where the polyfill finds their texts, and what its own do."""

    total: int = 0
    same: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    made_right: int = 0

    def __str__(self) -> str:
        statuses = ", ".join(f"{name} {count}" for name, count in self.statuses.most_common())
        return (
            f"polyfill: {self.total} links: finds the same text as Chromium in {self.same}; "
            f"terms of its own: {statuses}; right in Chromium {self.made_right}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """Where the polyfill finds the link's text; the directive that it makes itself, or ""."""

    found: tuple[int, int] | None
    made: str
    status: str


def is_installed() -> bool:
    return (FOLDER / "package.json").exists()


def serve_polyfill(browser: Browser) -> None:
    """Its modules come from the pages' own address: no page may import from elsewhere."""
    browser.page.route("**/text-fragments-polyfill/src/*.js", _send)


def _send(route: Route) -> None:
    name = Path(urlsplit(route.request.url).path).name
    route.fulfill(path=FOLDER / "src" / name, content_type="text/javascript")


def agreement(browser: Browser, links: Sequence[Link]) -> Agreement:
    """Of links to one passage each; prints every difference."""
    agreed = Agreement()
    for link in links:
        texts = [hit.text for hit in link.page.hits]
        landing = browser.open(link.href, texts, link.cited)
        compared = _compared(browser, link, landing)
        agreed.total += 1
        agreed.statuses[compared.status] += 1
        if compared.found == landing.found[0]:
            agreed.same += 1
        else:
            print(f"  polyfill finds {compared.found}, Chromium {landing.found[0]}: {link.href}")
        if not compared.made:
            print(f"  polyfill makes no terms, {compared.status}: {link.href}")
            continue
        again = browser.open(f"{link.page.url}#{compared.made}", texts, link.cited)
        if is_right(again.found[0], again.cited[0]):
            agreed.made_right += 1
        else:
            print(f"  polyfill's own terms: found {again.found[0]}, cited {again.cited[0]}:")
            print(f"    {compared.made}\n    for {link.href}")
    return agreed


def _compared(browser: Browser, link: Link, landing: Landing) -> Compared:
    """On the page that the browser shows, just after `Browser.open`."""
    (place,) = landing.cited
    asked = {
        "directive": link.href.partition("#")[2],
        "cited": place and [place.start, place.end],
        "patience": PATIENCE,
    }
    told = browser.page.evaluate(COMPARING, asked)
    return Compared(
        found=tuple(told["found"]) if told["found"] else None,
        made=_directive(told["fragment"] or {}),
        status=told["status"],
    )


def _directive(terms: Mapping[str, str]) -> str:
    """As the specification writes it: `prefix-,start,end,-suffix`."""
    if not terms.get("textStart"):
        return ""
    parts = {name: quote(term, safe="").replace("-", "%2D") for name, term in terms.items()}
    named: Sequence[str] = [
        f"{parts['prefix']}-" if parts.get("prefix") else "",
        parts["textStart"],
        parts.get("textEnd", ""),
        f"-{parts['suffix']}" if parts.get("suffix") else "",
    ]
    return f":~:text={','.join(filter(None, named))}"
