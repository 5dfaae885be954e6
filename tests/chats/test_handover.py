from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing

from chats import handover as module
from chats.handover import Handover, one_by_one


async def putting(handover: Handover[int], count: int) -> None:
    for number in range(count):
        await handover.put(number)
    handover.close()


async def test_a_put_returns_when_the_reader_waits_for_more() -> None:
    handover: Handover[int] = Handover()
    put = asyncio.create_task(handover.put(1))
    await asyncio.sleep(0)
    batches = handover.batches()
    assert await anext(batches) == [1]
    await asyncio.sleep(0)
    assert not put.done()
    following = asyncio.create_task(anext(batches))
    await put
    following.cancel()


async def test_items_that_are_ready_together_are_read_together() -> None:
    handover: Handover[int] = Handover()
    async with aclosing(handover.batches()) as batches:
        first = asyncio.create_task(anext(batches))
        await asyncio.sleep(0)
        work = asyncio.create_task(putting(handover, 3))
        assert await first == [0, 1, 2]
        assert [batch async for batch in batches] == []
        await work


async def test_an_item_does_not_wait_for_one_that_is_still_to_be_made() -> None:
    handover: Handover[int] = Handover()
    read = []

    async def reading() -> None:
        async for batch in handover.batches():
            read.append(batch)

    reader = asyncio.create_task(reading())
    await asyncio.sleep(0)
    for number in range(3):
        await handover.put(number)
        time.sleep(0.002)  # made without a turn for anyone else
    handover.close()
    await reader
    assert [item for batch in read for item in batch] == [0, 1, 2]
    assert len(read[0]) <= 2


async def test_a_batch_is_bounded_in_items_and_in_weight() -> None:
    handover: Handover[int] = Handover()
    work = asyncio.create_task(putting(handover, 1_000))
    sizes = [len(batch) async for batch in handover.batches()]
    assert sum(sizes) == 1_000 and max(sizes) <= module.MOST_ITEMS
    await work

    heavy: Handover[str] = Handover()
    async with aclosing(heavy.batches()) as batches:
        first = asyncio.create_task(anext(batches))
        await asyncio.sleep(0)
        put = asyncio.create_task(heavy.put("x", weight=module.MOST_WEIGHT))
        assert await first == ["x"]
        assert not put.done()
        following = asyncio.create_task(anext(batches))
        await put
        following.cancel()
        await asyncio.wait((following,))


async def test_while_the_reader_is_busy_one_item_waits_at_most() -> None:
    handover: Handover[int] = Handover()
    work = asyncio.create_task(putting(handover, 10))
    async with aclosing(handover.batches()) as batches:
        await anext(batches)
        for _ in range(5):
            await asyncio.sleep(0)
        assert len(handover._batch) <= 1
    work.cancel()


async def test_the_reader_ends_after_what_was_put() -> None:
    handover: Handover[int] = Handover()
    put = asyncio.create_task(handover.put(1))
    await asyncio.sleep(0)
    handover.close()
    async with aclosing(handover.batches()) as batches:
        assert [batch async for batch in batches] == [[1]]
    await put


async def test_one_by_one_closes_the_batches_with_itself() -> None:
    closed = []

    async def batches() -> AsyncGenerator[list[int], None]:
        try:
            yield [1, 2]
            yield [3]
        finally:
            closed.append(True)

    items = one_by_one(batches())
    assert await anext(items) == 1
    await items.aclose()
    assert closed == [True]
    assert [item async for item in one_by_one(batches())] == [1, 2, 3]
