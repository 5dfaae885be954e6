"""The draining signal within one process."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator

import pytest

from fastrag_site import shutdown
from fastrag_site.errors import ServiceUnavailable


async def test_listeners_are_told_once_in_their_loop() -> None:
    told = []
    with shutdown.told(lambda: told.append(asyncio.get_running_loop())):
        shutdown.begin()
        shutdown.begin()
        await asyncio.sleep(0)
    assert told == [asyncio.get_running_loop()]


async def test_a_listener_that_comes_late_is_told_at_once() -> None:
    shutdown.begin()
    event = asyncio.Event()
    with shutdown.told(event.set):
        await asyncio.wait_for(event.wait(), 1)


async def test_a_listener_that_left_is_not_told() -> None:
    told: list[bool] = []
    with shutdown.told(lambda: told.append(True)):
        pass
    shutdown.begin()
    await asyncio.sleep(0)
    assert told == []


async def test_it_can_begin_in_another_thread() -> None:
    event = asyncio.Event()
    with shutdown.told(event.set):
        await asyncio.to_thread(shutdown.begin)
        await asyncio.wait_for(event.wait(), 1)


def test_new_generations_are_refused_while_draining() -> None:
    shutdown.refuse_if_draining()
    shutdown.begin()
    with pytest.raises(ServiceUnavailable) as refusal:
        shutdown.refuse_if_draining()
    assert refusal.value.retry_after == 5


@pytest.fixture
def handlers() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def test_a_signal_begins_draining_and_then_reaches_the_server(
    handlers: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutdown, "_insist", lambda: None)
    reached = []
    signal.signal(signal.SIGTERM, lambda *_: reached.append(shutdown.draining()))
    shutdown.install()
    shutdown.install()
    signal.raise_signal(signal.SIGTERM)
    assert reached == [True]


async def test_no_handler_is_installed_outside_of_the_main_thread(handlers: None) -> None:
    before = signal.getsignal(signal.SIGTERM)
    await asyncio.to_thread(shutdown.install)
    assert signal.getsignal(signal.SIGTERM) is before
