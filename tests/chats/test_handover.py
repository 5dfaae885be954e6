from __future__ import annotations

import asyncio
from contextlib import aclosing

from chats.handover import Handover


async def test_a_put_returns_when_the_reader_asks_for_more() -> None:
    handover: Handover[int] = Handover()
    items = handover.items()
    put = asyncio.create_task(handover.put(1))
    assert await anext(items) == 1
    await asyncio.sleep(0)
    assert not put.done()
    following = asyncio.create_task(anext(items))
    await put
    following.cancel()


async def test_the_reader_ends_after_what_was_put() -> None:
    handover: Handover[int] = Handover()
    put = asyncio.create_task(handover.put(1))
    await asyncio.sleep(0)
    handover.close()
    async with aclosing(handover.items()) as items:
        assert [item async for item in items] == [1]
    await put
