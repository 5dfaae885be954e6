"""The bridge from threads to asyncio."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Generator
from contextlib import aclosing
from contextvars import ContextVar

import pytest

from fastrag_site.threads import Returned, in_thread, iterate_in_thread, to_the_end


def counting(steps: list[str]) -> Callable[[], Generator[int, None, str]]:
    def run() -> Generator[int, None, str]:
        try:
            for number in range(3):
                steps.append(f"{number}")
                yield number
            return "all"
        finally:
            steps.append(f"closed in {threading.current_thread().name.rsplit('_')[0]}")

    return run


async def test_items_come_in_order_and_the_returned_value_last() -> None:
    items = [item async for item in iterate_in_thread(counting([]))]
    assert items == [0, 1, 2, Returned("all")]


async def test_the_generator_runs_one_step_for_each_item_asked_for() -> None:
    steps: list[str] = []
    async with aclosing(iterate_in_thread(counting(steps))) as items:
        assert await anext(items) == 0
        assert steps == ["0"]
        assert await anext(items) == 1
        assert steps == ["0", "1"]


async def test_leaving_early_closes_the_generator_in_its_thread_before_going_on() -> None:
    steps: list[str] = []
    async with aclosing(iterate_in_thread(counting(steps))) as items:
        await anext(items)
    assert steps == ["0", "closed in generator"]


async def test_a_generator_that_is_busy_is_closed_later_and_nobody_waits() -> None:
    go, closed = threading.Event(), threading.Event()

    def busy() -> Generator[int, None, None]:
        try:
            go.wait(10)
            yield 1
        finally:
            closed.set()

    async with aclosing(iterate_in_thread(busy)) as items:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(anext(items), 0.02)
    assert not closed.is_set()
    go.set()
    assert await asyncio.to_thread(closed.wait, 5)


async def test_an_error_in_the_generator_arrives_as_itself() -> None:
    def broken() -> Generator[int, None, None]:
        yield 1
        raise LookupError("gone")

    items = iterate_in_thread(broken)
    assert await anext(items) == 1
    with pytest.raises(LookupError, match="gone"):
        await anext(items)


async def test_an_error_before_there_is_a_generator_arrives_too() -> None:
    def broken() -> Generator[int, None, None]:
        raise LookupError("no generator")

    with pytest.raises(LookupError, match="no generator"):
        await anext(iterate_in_thread(broken))


async def test_a_generator_keeps_its_thread_and_the_callers_context() -> None:
    name: ContextVar[str] = ContextVar("name")
    name.set("caller")

    def where() -> Generator[tuple[int, str], None, None]:
        for _ in range(3):
            yield threading.get_ident(), name.get()

    seen = [item async for item in iterate_in_thread(where)]
    assert len({item for item in seen if not isinstance(item, Returned)}) == 1
    assert seen[0] == (seen[1][0], "caller")  # type: ignore[index]


async def test_more_generators_than_threads_all_end() -> None:
    async def drain() -> int:
        return len([item async for item in iterate_in_thread(counting([]))])

    assert await asyncio.gather(*(drain() for _ in range(40))) == [4] * 40


async def test_a_call_gives_its_result_or_its_error() -> None:
    assert await in_thread(divmod, 7, 2) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        await in_thread(divmod, 7, 0)


async def test_work_goes_to_its_end_though_its_caller_is_cancelled() -> None:
    began, go, steps = asyncio.Event(), asyncio.Event(), []

    async def work() -> None:
        began.set()
        await go.wait()
        steps.append("done")

    caller = asyncio.create_task(to_the_end(work()))
    await began.wait()
    caller.cancel()
    await asyncio.sleep(0)
    caller.cancel()
    go.set()
    with pytest.raises(asyncio.CancelledError):
        await caller
    assert steps == ["done"]


async def test_work_that_is_not_cancelled_gives_its_result_or_its_error() -> None:
    async def good() -> int:
        return 1

    async def bad() -> int:
        raise LookupError

    assert await to_the_end(good()) == 1
    with pytest.raises(LookupError):
        await to_the_end(bad())
