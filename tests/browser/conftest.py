"""A real browser on a real server. Its chat model says what the test says, when the test says it.

Without Playwright or Chromium these tests are skipped.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser.other_sites import OtherSite, other_site
from tests.browser.visits import Visit
from tests.browser.wire import Wire, wire_to
from tests.chats.live_parts import env
from tests.live import ROOT, Server, copied, environment, serve
from tests.upstream import Upstream, upstream

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# Nothing is asked of any other host; the last one lets pages tell what they highlight.
ARGUMENTS = [
    "--no-sandbox",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
    "--enable-blink-features=TextFragmentAPI",
]
HOSTILE_PAGE = """<!doctype html><html lang="en"><head>
<title>&lt;img src=x onerror=alert(1)&gt; \u202eetar egnahcxe</title>
<meta property="og:site_name" content="&quot;&gt;&lt;script&gt;alert(2)&lt;/script&gt;">
<link rel="icon" href="javascript:alert(3)"></head><body><main><h1>Zebras</h1>
<p>Zebras are striped because &lt;script&gt;alert(4)&lt;/script&gt; they are, and they graze on
grass in herds all day. Zebras sleep standing up, which is hard to do for anybody else.</p>
</main></body></html>"""
SETTINGS = {
    "chat_model_name": "scripted",
    "chat_api_key": "key",
    "model_titles": False,
    "rewrite_seconds": 0,
    "generations_per_owner": 1,
    "heartbeat_seconds": 0.2,
}


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Of the package and no longer: Playwright's event loop must not meet that of other tests."""
    api = pytest.importorskip("playwright.sync_api")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("Chromium is not installed")
    api.expect.set_options(timeout=15_000)
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def model() -> Iterator[Upstream]:
    with upstream() as server:
        yield server


@pytest.fixture(scope="package")
def other() -> Iterator[OtherSite]:
    """A site that may show the widget."""
    with other_site() as made:
        yield made


@pytest.fixture(scope="package")
def site(
    browser: Browser,
    model: Upstream,
    other: OtherSite,
    migrated_var_dir: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Server]:
    """With the project's documentation, which it serves itself, and a page that means harm."""
    origins = [other.origin("localhost"), other.origin("127.0.0.1")]
    variables = env(**SETTINGS, chat_base_url=model.base_url, widget_origins=origins)
    hostile = tmp_path_factory.mktemp("hostile")
    (hostile / "zebras.html").write_text(HOSTILE_PAGE)
    with serve(copied(migrated_var_dir, tmp_path_factory), env=variables) as server:
        folders = {ROOT / "docs": f"{server.url}/docs/", hostile: "https://hostile.example/"}
        index(server, folders, variables)
        yield server


def index(server: Server, folders: dict[Path, str], variables: dict[str, str]) -> None:
    running = [
        subprocess.Popen(
            [sys.executable, "manage.py", "sync", folder, "--base-url", url, "--strip-suffix"],
            cwd=ROOT,
            env=environment(server.var_dir, "fastrag_site.settings", variables),
            stdout=subprocess.DEVNULL,
        )
        for folder, url in folders.items()
    ]
    assert [process.wait(110) for process in running] == [0] * len(running)


@pytest.fixture
def visit(browser: Browser, site: Server, model: Upstream) -> Iterator[Callable[..., Visit]]:
    """Opens windows, each with a session of its own; no script may fail or be refused in them."""
    visits: list[Visit] = []

    def start(**options: object) -> Visit:
        visits.append(Visit.start(browser, site, model, **options))
        return visits[-1]

    model.requests.clear()
    try:
        yield start
    finally:
        for one in visits:
            one.context.close()
    assert [problem for one in visits for problem in one.problems] == []


@pytest.fixture
def wire(site: Server) -> Iterator[Wire]:
    """Another way to the site, that the test can cut."""
    with wire_to(site.port) as made:
        yield made
