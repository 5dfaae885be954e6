"""A server stays awake for a moment after an answer, where that has just paid."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from retrieval.rcp.transports import linger
from retrieval.rcp.transports.linger import SECONDS, Linger

Pass = Callable[[float], None]


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> Pass:
    """Lets time pass, in shares of the moment."""
    now = [1_000.0]
    monkeypatch.setattr(linger.time, "monotonic", lambda: now[0])

    def passes(moments: float) -> None:
        now[0] += moments * SECONDS

    return passes


def asked_at_once(passes: Pass) -> Linger:
    """One that has seen a question follow an answer within the moment, and has answered it."""
    lingering = Linger()
    lingering.asked()
    lingering.answered()
    passes(0.5)
    lingering.asked()
    lingering.answered()
    return lingering


def test_a_server_sleeps_after_its_first_answer(passes: Pass) -> None:
    lingering = Linger()
    lingering.asked()
    lingering.answered()
    assert not lingering.goes_on()


def test_it_stays_awake_once_a_question_has_followed_an_answer_at_once(passes: Pass) -> None:
    lingering = asked_at_once(passes)
    passes(0.9)
    assert lingering.goes_on()


def test_it_sleeps_when_the_moment_is_over(passes: Pass) -> None:
    lingering = asked_at_once(passes)
    passes(1.1)
    assert not lingering.goes_on()


def test_it_does_not_stay_awake_while_it_works(passes: Pass) -> None:
    lingering = asked_at_once(passes)
    lingering.asked()
    assert not lingering.goes_on()


def test_one_moment_in_vain_and_it_sleeps_after_the_next_answer_too(passes: Pass) -> None:
    lingering = asked_at_once(passes)
    passes(2.0)
    assert not lingering.goes_on()
    lingering.asked()
    lingering.answered()
    assert not lingering.goes_on()
