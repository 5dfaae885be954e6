from __future__ import annotations

from email.utils import formatdate
from time import time
from types import SimpleNamespace

import pytest

from retrieval.ingest.crawl.download import MAX_WAIT, retry_wait


def answering(retry_after: str | None) -> SimpleNamespace:
    headers = {} if retry_after is None else {"Retry-After": retry_after.encode("latin-1")}
    return SimpleNamespace(headers=headers)


@pytest.mark.parametrize(
    ("retry_after", "seconds"),
    [
        (None, 2.0),
        ("7", 7.0),
        ("0", 0.0),
        ("999999999", MAX_WAIT),
        ("soon", 2.0),
        ("-5", 2.0),
        ("é", 2.0),
        ("Mon, 01 Jan 2001 00:00:00 GMT", 0.0),
    ],
)
def test_the_wait_is_what_the_server_asks_for_within_bounds(
    retry_after: str | None, seconds: float
) -> None:
    assert retry_wait(2.0, answering(retry_after)) == seconds


def test_the_server_may_give_a_date() -> None:
    wait = retry_wait(2.0, answering(formatdate(time() + 30, usegmt=True)))
    assert 28 <= wait <= 31


def test_without_an_answer_the_wait_is_our_own_within_bounds() -> None:
    assert retry_wait(2.0) == 2.0
    assert retry_wait(1_000.0) == MAX_WAIT
