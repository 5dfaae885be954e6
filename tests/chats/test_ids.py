from __future__ import annotations

import time
from uuid import RFC_4122

from chats.ids import uuid7


def test_ids_are_uuids_of_version_7() -> None:
    made = uuid7()
    assert (made.version, made.variant) == (7, RFC_4122)


def test_ids_sort_in_the_order_in_which_they_were_made() -> None:
    made = [uuid7() for _ in range(20_000)]
    assert made == sorted(made, key=str)
    assert len(set(made)) == len(made)


def test_an_id_tells_its_millisecond() -> None:
    before = time.time_ns() // 1_000_000
    made = uuid7().int >> 80
    assert before <= made <= time.time_ns() // 1_000_000 + 10
