"""RCP.md, section 6: cancelling, and concurrency as far as every transport has it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.retrieval.rcp.engine import Engine, cancel, request, retrieve
from tests.retrieval.rcp.wires import Wire

HELD = ["hold", "hold-async"]


def code(reply: Any) -> Any:
    return reply["error"]["code"]


@pytest.mark.parametrize("query", HELD)
@pytest.mark.parametrize("stream", [True, False])
def test_a_cancel_closes_the_handler_and_answers_cancelled(
    wire: Wire, engine: Engine, query: str, stream: bool
) -> None:
    pending = wire.start(retrieve(query, id_="r", token="t"), stream=stream)
    assert engine.started.acquire(timeout=5)
    wire.start(cancel("r"))
    assert code(pending.reply()) == -32006
    assert engine.closed.acquire(timeout=5), "the generator's finally did not run"
    assert not pending.answered_again()


@pytest.mark.parametrize("query", HELD)
def test_a_slow_handler_blocks_neither_ping_nor_info_nor_another_request(
    wire: Wire, engine: Engine, query: str
) -> None:
    slow = [wire.start(retrieve(query, id_=n)) for n in range(3)]
    for _ in slow:
        assert engine.started.acquire(timeout=5)
    assert "result" in wire.start(request("ping", id_="p")).reply()
    assert "result" in wire.start(request("info", id_="i")).reply()
    assert "result" in wire.start(retrieve(id_="q")).reply()
    engine.release.set()
    assert all("result" in pending.reply() for pending in slow)


def test_a_cancel_after_the_end_is_ignored(wire: Wire) -> None:
    pending = wire.start(retrieve(id_=5))
    assert "result" in pending.reply()
    wire.start(cancel(5))
    assert "result" in wire.start(request("ping", id_=6)).reply()
    assert not pending.answered_again()


def test_a_second_cancel_is_ignored(wire: Wire, engine: Engine) -> None:
    pending = wire.start(retrieve("hold", id_=5))
    assert engine.started.acquire(timeout=5)
    wire.start(cancel(5))
    wire.start(cancel(5))
    assert code(pending.reply()) == -32006
    assert "result" in wire.start(request("ping", id_=6)).reply()
    assert not pending.answered_again()


def test_a_cancel_of_an_unknown_id_is_ignored(wire: Wire) -> None:
    wire.start(cancel("never"))
    assert "result" in wire.start(retrieve()).reply()


@pytest.mark.parametrize("other", ["1", 1.0, 2, "", 0])
def test_ids_of_other_types_are_other_requests(wire: Wire, engine: Engine, other: Any) -> None:
    pending = wire.start(retrieve("hold", id_=1))
    assert engine.started.acquire(timeout=5)
    wire.start(cancel(other))
    assert "result" in wire.start(request("ping", id_="p")).reply()
    engine.release.set()
    assert "result" in pending.reply()


def test_cancelling_one_leaves_the_others(wire: Wire, engine: Engine) -> None:
    first, second = (wire.start(retrieve("hold", id_=n)) for n in (1, 2))
    for _ in range(2):
        assert engine.started.acquire(timeout=5)
    wire.start(cancel(1))
    assert code(first.reply()) == -32006
    engine.release.set()
    assert "result" in second.reply()


def test_a_request_cancelled_within_its_own_batch_never_starts(wire: Wire, engine: Engine) -> None:
    replies = wire.start([retrieve(id_=1), cancel(1), retrieve(id_=2)], stream=False).reply()
    by_id = {reply["id"]: reply for reply in replies}
    assert code(by_id[1]) == -32006
    assert "result" in by_id[2]
    assert len(engine.seen) == 1
