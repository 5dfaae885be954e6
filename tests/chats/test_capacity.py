from __future__ import annotations

import pytest
from django.test import override_settings

from chats.capacity import slots_taken, take_slot
from fastrag_site.errors import ServiceUnavailable


@override_settings(FASTRAG={"GENERATIONS_PER_WORKER": 2})
def test_a_full_worker_refuses_until_a_slot_is_free() -> None:
    first, second = take_slot(), take_slot()
    with pytest.raises(ServiceUnavailable) as caught:
        take_slot()
    assert caught.value.retry_after
    first.release()
    first.release()
    third = take_slot()
    assert slots_taken() == 2
    second.release()
    third.release()


def test_a_dropped_slot_is_free() -> None:
    before = slots_taken()
    slot = take_slot()
    assert slots_taken() == before + 1
    del slot
    assert slots_taken() == before
