"""The bridge from threads to asyncio."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Generator
from contextvars import ContextVar

import pytest

from fastrag_site.threads import drained, in_thread, to_the_end


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


async def test_a_generator_runs_to_its_end_in_a_thread_and_its_result_arrives() -> None:
    steps: list[str] = []
    assert await drained(counting(steps)) == "all"
    assert steps == ["0", "1", "2", "closed in generator"]


async def test_a_generator_whose_caller_leaves_is_closed_at_its_next_step() -> None:
    began, go, closed = threading.Event(), threading.Event(), threading.Event()

    def busy() -> Generator[int, None, None]:
        try:
            began.set()
            go.wait(10)
            yield 1
            raise AssertionError("went on")
        finally:
            closed.set()

    caller = asyncio.create_task(drained(busy))
    assert await asyncio.to_thread(began.wait, 5)
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    assert not closed.is_set()
    go.set()
    assert await asyncio.to_thread(closed.wait, 5)


async def test_an_error_in_the_generator_arrives_as_itself() -> None:
    def broken() -> Generator[int, None, None]:
        yield 1
        raise LookupError("gone")

    with pytest.raises(LookupError, match="gone"):
        await drained(broken)


async def test_an_error_before_there_is_a_generator_arrives_too() -> None:
    def broken() -> Generator[int, None, None]:
        raise LookupError("no generator")

    with pytest.raises(LookupError, match="no generator"):
        await drained(broken)


async def test_a_generator_keeps_its_thread_and_the_callers_context() -> None:
    name: ContextVar[str] = ContextVar("name")
    name.set("caller")

    def where() -> Generator[None, None, set[tuple[int, str]]]:
        seen = set()
        for _ in range(3):
            seen.add((threading.get_ident(), name.get()))
            yield
        return seen

    ((thread, caller),) = await drained(where)
    assert thread != threading.get_ident()
    assert caller == "caller"


async def test_more_generators_than_threads_all_end() -> None:
    assert await asyncio.gather(*(drained(counting([])) for _ in range(40))) == ["all"] * 40


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
