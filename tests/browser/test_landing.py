"""Pages of every shape in Chromium: each passage's link highlights that passage, or there is none.

The judge is the benchmark's: Chromium tells the ranges that it found, a screenshot shows them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import LazySettings

pytest.importorskip("playwright.sync_api")
from playwright.sync_api import Browser as Chromium

from benchmarks.landing import MARKING, SIZE, Browser, is_right
from retrieval.ingest.chunk import passages
from retrieval.ingest.fragments import directive
from tests.retrieval.ingest.documents import page as parsed

URL = "http://127.0.0.1/page.html"
TEXTS = {
    "@many": " ".join(f"word{number}" for number in range(40)),
    "@more": " ".join(f"other{number}" for number in range(40)),
    "@far": "<p style='height: 2000px'>far</p>",
}


def shapes() -> dict[str, str]:
    """What is hard about a page → its body."""
    text = Path(__file__).with_name("shapes.html").read_text()
    for name, standing in TEXTS.items():
        text = text.replace(name, standing)
    _, _, *rest = re.split(r"^<!-- (.+) -->\n", text, flags=re.MULTILINE)
    return dict(zip(rest[1::2], rest[2::2], strict=True))


SHAPES = shapes()


@pytest.fixture(scope="module")
def landing(browser: Chromium) -> Iterator[Browser]:
    with browser.new_context(viewport=SIZE) as context:
        eye = context.new_page()
        context.add_init_script(MARKING)
        yield Browser(context.new_page(), eye)


@pytest.mark.parametrize("shape", SHAPES)
def test_every_passage_is_landed_on(landing: Browser, settings: LazySettings, shape: str) -> None:
    settings.FASTRAG = {"CHUNK_TARGET_WORDS": 30, "CHUNK_MAX_WORDS": 36}
    markup = f"<!doctype html><meta charset=utf-8><title>Title</title><body>{SHAPES[shape]}"
    landing.page.unroute_all()
    landing.page.route(URL, lambda route: route.fulfill(body=markup, content_type="text/html"))
    cited = passages(parsed(SHAPES[shape]))
    texts = [passage.text for passage in cited]
    linked = [at for at, passage in enumerate(cited) if passage.fragment is not None]
    assert linked
    for at in linked:
        fragment = cited[at].fragment
        assert fragment is not None
        landed = landing.open(f"{URL}#{directive([fragment])}", texts, [(at, at)])
        (found,), (place,) = landed.found, landed.cited
        assert found is not None, fragment
        assert is_right(found, place), (fragment, found, place, landed.texts)
        assert landed.shown and not landed.stray, fragment
