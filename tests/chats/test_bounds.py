from __future__ import annotations

import asyncio

import pytest

from chats.bounds import Patience
from chats.generation.errors import GenerationTimeout


async def test_one_wait_that_takes_too_long_ends_with_its_message() -> None:
    with pytest.raises(GenerationTimeout, match="late"):
        async with Patience(0.01, "late") as patience:
            with patience:
                await asyncio.sleep(60)


async def test_many_short_waits_may_together_take_longer() -> None:
    async with Patience(0.2, "late") as patience:
        for _ in range(25):
            with patience:
                await asyncio.sleep(0.01)


async def test_time_between_two_waits_does_not_count() -> None:
    async with Patience(0.01, "late") as patience:
        with patience:
            pass
        await asyncio.sleep(0.05)
        with patience:
            pass


async def test_patience_may_become_shorter_on_the_way() -> None:
    with pytest.raises(GenerationTimeout, match="silent"):
        async with Patience(60, "late") as patience:
            with patience:
                await asyncio.sleep(0)
            patience.become(0.01, "silent")
            with patience:
                await asyncio.sleep(60)


async def test_a_timeout_of_the_work_itself_is_not_taken_for_ours() -> None:
    with pytest.raises(TimeoutError) as raised:
        async with Patience(60, "late"):
            raise TimeoutError("its own")
    assert str(raised.value) == "its own"
