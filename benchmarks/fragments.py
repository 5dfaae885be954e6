"""Whether citations land: random passages of real documentation, their links opened in Chromium.

    apt-get install -y chromium python3-doc postgresql-doc-15 debian-reference
    npm ci --prefix benchmarks
    .venv/bin/python benchmarks/fragments.py [FOLDER …] [--count 300] [--seed 1] [--check]

Serves each folder on loopback, syncs it into a scratch database, draws passages, opens the link
that an answer would cite each by, and compares what Chromium highlights with the passage. Then the
same for links to several passages of a page, and with the independent text-fragments-polyfill:
whether it finds the same, and what the terms that it makes itself would find.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from random import Random
from statistics import fmean

sys.path[0] = str(Path(__file__).resolve().parent.parent)  # `retrieval` is the package, not ours

from benchmarks.cited_pages import IndexedPage, Link, joint_links, pages_of, single_links  # noqa: E402
from benchmarks.landing import Browser, Landing, chromium, is_right  # noqa: E402
from benchmarks.polyfill import INSTALL, agreement, is_installed, serve_polyfill  # noqa: E402
from benchmarks.python_docs import FOLDERS, line, prepare, serving  # noqa: E402

PYTHON = next((folder for folder in FOLDERS if (folder / "index.html").exists()), FOLDERS[0])
DOCUMENTATION = (
    PYTHON,
    Path("/usr/share/doc/postgresql-doc-15/html"),
    Path("/usr/share/debian-reference"),
)
LEAST_RIGHT = 0.99
MOST_WITHOUT = 0.02
SHOWN = 8  # examples of each fault


class Verdict(StrEnum):
    RIGHT = "right"
    WRONG = "wrong"  # another text is highlighted, or more than the passage
    MISSED = "not highlighted"
    UNSEEN = "highlighted, but not in the window"
    UNPLACED = "passage not found on the page by the benchmark"


@dataclass(kw_only=True)
class Tally:
    """The verdicts over one kind of links, and how much of a passage the right ones cover."""

    counts: Counter[Verdict] = field(default_factory=Counter)
    coverage: list[float] = field(default_factory=list)
    inexact: int = 0
    texts: Counter[int] = field(default_factory=Counter)

    @property
    def total(self) -> int:
        return self.counts.total()

    @property
    def right(self) -> float:
        return self.counts[Verdict.RIGHT] / max(1, self.total)


def main() -> None:
    options = arguments()
    with ExitStack() as stack:
        scratch = Path(options.keep or stack.enter_context(tempfile.TemporaryDirectory()))
        prepare(scratch)
        sites = {
            folder: indexed(folder, stack.enter_context(serving(folder)), scratch)
            for folder in options.folders
        }
        random = Random(options.seed)
        drawn = {
            folder: (
                single_links(pages, options.count, random),
                joint_links(pages, options.joint, random),
            )
            for folder, pages in sites.items()
        }
        browser = stack.enter_context(chromium())
        serve_polyfill(browser)
        missed: list[str] = []
        for folder, (single, joint) in drawn.items():
            missed += measured(folder, sites[folder], browser, single, joint)
            print(f"  {agreement(browser, spread(single, options.polyfill))}", flush=True)
    if missed:
        print("\nbelow the floor:", *missed, sep="\n  ")
        raise SystemExit(options.check)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    found = [folder for folder in DOCUMENTATION if (folder / "index.html").exists()]
    parser.add_argument("folders", nargs="*", type=Path, default=found, metavar="FOLDER")
    parser.add_argument("--count", type=int, default=300, help="passages of each folder")
    parser.add_argument("--joint", type=int, default=100, help="links to several passages each")
    parser.add_argument("--polyfill", type=int, default=60, help="links to compare with it, each")
    parser.add_argument("--no-polyfill", dest="polyfill", action="store_const", const=0)
    parser.add_argument("--keep", metavar="DIR", help="where the scratch database stays, for more")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--check", action="store_true", help="fail below the floors")
    options = parser.parse_args()
    if not options.folders:
        parser.error("there is no documentation; try: apt-get install -y python3-doc")
    if options.polyfill and not is_installed():
        parser.error(INSTALL)
    return options


def indexed(folder: Path, address: str, scratch: Path) -> list[IndexedPage]:
    """The pages at their address of this run; what was kept is not synced again."""
    from retrieval.ingest import sync

    kept = scratch / "folders.json"
    known: dict[str, str] = json.loads(kept.read_text()) if kept.exists() else {}
    if str(folder) not in known:
        print(f"{folder}: {line(sync([address], vectors=False))}", flush=True)
        known[str(folder)] = address
        kept.write_text(json.dumps(known))
    return [page for page in pages_of(known[str(folder)], at=address) if page.is_web]


def measured(
    folder: Path,
    pages: Sequence[IndexedPage],
    browser: Browser,
    single: Sequence[Link],
    joint: Sequence[Link],
) -> Iterable[str]:
    """Prints the figures of one folder; yields what is below a floor."""
    hits = [hit for page in pages for hit in page.hits]
    without = sum(hit.fragment is None for hit in hits) / len(hits)
    print(f"\n{folder}\n  passages: {len(hits)}, without a fragment: {without:.2%}", flush=True)
    if without >= MOST_WITHOUT:
        yield f"{folder}: {without:.2%} without a fragment"
    for name, links in (("one passage", single), ("several passages", joint)):
        tally = opened(browser, links)
        report(name, tally)
        if tally.right < LEAST_RIGHT:
            yield f"{folder}, {name}: {tally.right:.2%} right"
        if tally.counts[Verdict.WRONG]:
            yield f"{folder}, {name}: {tally.counts[Verdict.WRONG]} wrong"


def spread(links: Sequence[Link], count: int) -> Sequence[Link]:
    """So many of them, from all over the pages."""
    return links[:: max(1, len(links) // count)][:count] if count else ()


def opened(browser: Browser, links: Sequence[Link]) -> Tally:
    tally = Tally()
    for link in links:
        landing = browser.open(link.href, [hit.text for hit in link.page.hits], link.cited)
        verdict, coverage = judge(landing)
        tally.counts[verdict] += 1
        tally.coverage += coverage if verdict is Verdict.RIGHT else []
        tally.inexact += not all(place and place.exact for place in landing.cited)
        tally.texts[len(link.cited)] += 1
        if verdict is not Verdict.RIGHT and tally.counts[verdict] <= SHOWN:
            print(f"  {verdict}: {link.href}")
            for found, text, place in zip(landing.found, landing.texts, landing.cited, strict=True):
                print(f"    found {found} cited {place} {(text or '')[:200]!r}")
    return tally


def judge(landing: Landing) -> tuple[Verdict, list[float]]:
    """Of a link the worst of its texts; how much of its passages each covers."""
    coverage = []
    for found, place in zip(landing.found, landing.cited, strict=True):
        if found is None:
            return Verdict.MISSED, []
        if place is None:
            return Verdict.UNPLACED, []
        if not is_right(found, place):
            return Verdict.WRONG, []
        coverage.append((found[1] - found[0]) / (place.end - place.start))
    if landing.stray:
        return Verdict.WRONG, []
    return (Verdict.RIGHT, coverage) if landing.shown else (Verdict.UNSEEN, [])


def report(name: str, tally: Tally) -> None:
    verdicts = ", ".join(f"{verdict} {tally.counts[verdict]}" for verdict in Verdict)
    whole = sum(one >= 0.9 for one in tally.coverage) / max(1, len(tally.coverage))
    print(f"  {name}: {tally.total} links: {tally.right:.2%} right ({verdicts})")
    print(
        f"    of a passage is highlighted: {fmean(tally.coverage or [0]):.1%}; nine tenths or more "
        f"in {whole:.1%}; {tally.inexact} could be placed between limits only; "
        f"texts in a link: {dict(sorted(tally.texts.items()))}",
        flush=True,
    )


if __name__ == "__main__":
    main()
