"""The ASGI application's own start and end."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fastrag_site import shutdown
from fastrag_site.lifespan import Lifespan, Message, Receive, Scope, Send, started

pytestmark = pytest.mark.django_db(transaction=True)


async def no_app(scope: Scope, receive: Receive, send: Send) -> None:
    raise AssertionError("the lifespan is not the application's")


async def live() -> list[str]:
    """Run start-up and shutdown; what was sent."""
    messages = iter(["lifespan.startup", "lifespan.shutdown"])
    sent: list[str] = []

    async def receive() -> Message:
        return {"type": next(messages)}

    async def send(message: Message) -> None:
        sent.append(message["type"])

    await Lifespan(no_app)({"type": "lifespan"}, receive, send)
    return sent


@pytest.fixture
def hooks() -> Iterator[list[str]]:
    called: list[str] = []

    def good(**_: object) -> None:
        called.append("good")

    def bad(**_: object) -> None:
        called.append("bad")
        raise RuntimeError("hook")

    started.connect(bad)
    started.connect(good)
    yield called
    started.disconnect(bad)
    started.disconnect(good)


async def test_hooks_run_at_start_up_and_a_failing_one_is_logged(
    hooks: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    assert await live() == ["lifespan.startup.complete", "lifespan.shutdown.complete"]
    assert sorted(hooks) == ["bad", "good"]
    assert [record.levelname for record in caplog.records] == ["ERROR"]


async def test_a_server_that_only_tells_the_lifespan_begins_draining_then() -> None:
    await live()
    assert shutdown.draining()


async def test_a_websocket_is_turned_away() -> None:
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "websocket.connect"}

    async def send(message: Message) -> None:
        sent.append(message)

    await Lifespan(no_app)({"type": "websocket"}, receive, send)
    assert sent == [{"type": "websocket.close"}]
