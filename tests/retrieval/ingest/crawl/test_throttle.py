from __future__ import annotations

from ipaddress import ip_address
from types import SimpleNamespace

import pytest

from retrieval.ingest.crawl.throttle import MAX_DELAY, PUBLIC_DELAY, Throttle


class Host:
    """A host's slot in the downloader, and answers from it."""

    def __init__(self, *, delay: float = 0.0, address: str = "127.0.0.1") -> None:
        self.slot = SimpleNamespace(delay=delay, concurrency=4, jitter=0.25)
        self.downloader = SimpleNamespace(slots={"h": self.slot}, per_slot_settings={})
        self.throttle = Throttle(
            SimpleNamespace(engine=SimpleNamespace(downloader=self.downloader))
        )
        self._address = ip_address(address)

    def answers(self, latency: float | None, *, status: int = 200) -> float:
        """The delay after an answer."""
        meta = {"download_latency": latency, "download_slot": "h"}
        response = SimpleNamespace(status=status, ip_address=self._address)
        self.throttle._adjust(response, SimpleNamespace(meta=meta))
        return self.slot.delay


def test_a_host_that_answers_slowly_is_asked_slowly_at_once() -> None:
    assert Host().answers(2.0) == 2.0


@pytest.mark.parametrize("status", [200, 304])
def test_a_host_that_answers_fast_again_is_asked_faster_by_halves(status: int) -> None:
    assert Host(delay=1.0).answers(0.0, status=status) == 0.5


@pytest.mark.parametrize("status", [302, 404, 429, 503])
def test_quick_errors_make_nothing_faster(status: int) -> None:
    assert Host(delay=1.0).answers(0.0, status=status) == 1.0


def test_a_host_on_the_internet_is_left_a_pause() -> None:
    assert Host(address="1.1.1.1").answers(0.001) == PUBLIC_DELAY
    assert Host(address="127.0.0.1").answers(0.001) == 0.001


def test_no_wait_is_longer_than_the_greatest() -> None:
    assert Host().answers(1_000.0) == MAX_DELAY


def test_an_answer_without_a_latency_changes_nothing() -> None:
    assert Host(delay=1.0).answers(None) == 1.0


def test_a_pace_that_was_asked_for_is_kept() -> None:
    host = Host()
    host.throttle.keep_apart("h", 5.0)
    assert (host.slot.delay, host.slot.concurrency, host.slot.jitter) == (5.0, 1, 0.0)
    assert host.answers(0.001) == 5.0
    assert host.answers(7.0) == 7.0
    assert host.downloader.per_slot_settings["h"]["delay"] == 5.0


def test_a_pace_that_would_take_days_is_bounded() -> None:
    host = Host()
    host.throttle.keep_apart("h", 86_400.0)
    assert host.slot.delay == MAX_DELAY
