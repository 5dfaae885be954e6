"""The whole TypeScript client in a browser, on a page of the site."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.chats.live_parts import env
from tests.clients.conftest import typescript
from tests.clients.drivers import TypeScript
from tests.live import ServerFactory

__all__ = ["typescript"]
pytest.importorskip("playwright.sync_api")
from playwright.sync_api import Browser, Route

ASK = """async () => {
  const { Client } = await import("/static/built/index.js");
  const client = new Client({ baseUrl: location.origin });
  const found = [];
  let chatId;
  for (const question of ["Why?", "And then?"]) {
    for await (const event of client.ask(question, { chatId })) {
      chatId ??= event.chat_id;
      found.push(event.event === "message_end" ? event.finish_reason : event.event);
    }
  }
  const aborted = await client.ask("So?", { chatId, signal: AbortSignal.abort() }).next()
    .catch((error) => error.name);
  const refused = await client.chat("nobody's").catch((error) => [error.name, error.code]);
  return JSON.stringify([found, (await client.chat(chatId)).messages.length, aborted, refused]);
}"""


def test_it_asks_follows_up_aborts_and_is_refused(
    browser: Browser, real_server: ServerFactory, typescript: TypeScript
) -> None:
    server = real_server(env=env())

    def serve(route: Route) -> None:
        path = typescript.dist / Path(route.request.url).name
        route.fulfill(path=path, content_type="text/javascript")

    with browser.new_page(base_url=server.url) as page:
        page.set_default_timeout(30_000)
        page.route("**/static/built/*", serve)
        page.goto("/docs/")
        found, messages, aborted, refused = json.loads(page.evaluate(ASK))
    assert [name for name in found if name != "delta"] == ["message_start", "sources", "stop"] * 2
    assert "delta" in found
    assert messages == 4
    assert aborted == "AbortError"
    assert refused == ["Refused", "CHAT_NOT_FOUND"]
