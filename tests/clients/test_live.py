"""All clients against a running site."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path

import pytest

import fastrag_client
from tests.chats.live_parts import SILENT, SLOW, answers, env, journal
from tests.clients.drivers import Again, Ask, Async, Call, Driver, TypeScript, outcomes_of
from tests.live import Server, ServerFactory, copied, serve, until

WHOLE = ["message_start", "sources", "delta", "message_end"]


@pytest.fixture(scope="module")
def site(migrated_var_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serve(copied(migrated_var_dir, tmp_path_factory), env=env()) as server:
        yield server


@pytest.fixture(scope="module")
def slow(migrated_var_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serve(copied(migrated_var_dir, tmp_path_factory), env=env(SLOW)) as server:
        yield server


def test_a_question_and_a_follow_up_without_a_key(driver: Driver, site: Server) -> None:
    first, second, again = driver.run(site.url, [Ask(), Ask("And then?", "$chat"), Again()])
    for outcome in (first, second, again):
        assert outcome.problem is None
        assert sorted(set(outcome.names), key=outcome.names.index) == WHOLE
        assert outcome.text
        assert outcome.events[-1]["finish_reason"] == "stop"
    chats = {outcome.events[0]["chat_id"] for outcome in (first, second, again)}
    assert len(chats) == 1
    assert again.events[0]["user_message_id"] == second.events[0]["user_message_id"]
    assert again.events[0]["message_id"] != second.events[0]["message_id"]


def test_a_repeat_with_the_same_key_is_sent_the_stored_answer(driver: Driver, site: Server) -> None:
    first, again, other = driver.run(
        site.url, [Ask(key="k1"), Ask(key="k1"), Ask("Who?", key="k1")]
    )
    assert again.events[0] == first.events[0]
    assert again.text == first.text
    assert other.problem["code"] == "IDEMPOTENCY_CONFLICT"


def test_a_reader_that_leaves_interrupts_the_answer(driver: Driver, slow: Server) -> None:
    (outcome,) = driver.run(slow.url, [Ask(leave=6)])
    assert outcome.problem is None
    chat = outcome.events[0]["chat_id"]
    until(lambda: answers(slow, chat), 10, "stored answer")
    ((reason, content),) = answers(slow, chat)
    assert reason == "interrupted"
    assert content.startswith(outcome.text)


def test_another_chat_is_as_good_as_missing(driver: Driver, site: Server) -> None:
    nobodys = "0190a000-0000-7000-8000-000000000000"
    asked, odd, again = driver.run(
        site.url, [Ask("Why?", nobodys), Ask("Why?", "a/b?c"), Again(nobodys, nobodys)]
    )
    for outcome in (asked, again):
        assert (outcome.problem["status"], outcome.problem["code"]) == (404, "CHAT_NOT_FOUND")
        assert outcome.problem["request_id"]
    assert odd.problem["status"] == 404


def test_a_question_without_words_is_refused_by_field(driver: Driver, site: Server) -> None:
    (outcome,) = driver.run(site.url, [Ask(" ")])
    assert outcome.problem["code"] == "VALIDATION_ERROR"
    assert list(outcome.problem["fields"]) == ["content"]


def test_keep_alives_are_no_silence(driver: Driver, real_server: ServerFactory) -> None:
    settings = env(SILENT, keepalive_seconds="0.2", first_token_seconds="3.0")
    server = real_server(env=settings)
    (outcome,) = driver.run(server.url, [Ask()], silence=1.5)
    assert outcome.problem is None
    assert outcome.events[-1]["error"]["code"] == "TIMEOUT"


def test_a_server_that_is_killed_is_a_lost_connection(
    typescript: TypeScript, real_server: ServerFactory
) -> None:
    server = real_server(env=env(SLOW))
    with typescript.start(server.url, [Ask()]) as process:
        until(lambda: journal(server), 10, "question")
        server.kill()
        (outcome,) = outcomes_of(process)
    assert outcome.problem == {"kind": "ConnectionLost"}


@pytest.mark.parametrize("kind", ["typescript", "python"])
def test_two_answers_at_once_do_not_mix(
    request: pytest.FixtureRequest, site: Server, kind: str
) -> None:
    client = request.getfixturevalue("typescript") if kind == "typescript" else Async()
    _, both = client.run(site.url, [Ask(), [Ask("One?"), Ask("Two?")]])
    ids = []
    for outcome in both:
        assert outcome.problem is None
        (answer,) = {event["message_id"] for event in outcome.events}
        ids.append(answer)
    assert ids[0] != ids[1]


def started(typescript: TypeScript, server: Server) -> subprocess.Popen[str]:
    """A question of which the server knows, and that has got no answer yet."""
    process = typescript.start(server.url, [Ask()])
    until(lambda: journal(server), 10, "question")
    return process


def test_an_abort_before_the_first_token_interrupts_the_answer(
    typescript: TypeScript, real_server: ServerFactory
) -> None:
    server = real_server(env=env(SILENT))
    with started(typescript, server) as process:
        (outcome,) = outcomes_of(process, say="abort\n")
    assert outcome.problem["kind"] == "AbortError"
    until(lambda: answers(server), 10, "stored answer")
    assert answers(server) == [("interrupted", "")]


def test_an_abort_in_mid_answer_throws_after_what_was_read(
    typescript: TypeScript, slow: Server
) -> None:
    aborted = {"name": "ask", "args": ["Why?", None], "abort": 5}
    (outcome,) = typescript.run(slow.url, [aborted])
    assert outcome.problem["kind"] == "AbortError"
    assert len(outcome.events) == 5
    chat = outcome.events[0]["chat_id"]
    until(lambda: answers(slow, chat), 10, "stored answer")
    assert answers(slow, chat)[0][0] == "interrupted"


def test_a_signal_that_was_aborted_before_sends_nothing(
    typescript: TypeScript, real_server: ServerFactory
) -> None:
    server = real_server(env=env())
    (outcome,) = typescript.run(server.url, [{"name": "ask", "args": ["Why?", None], "abort": 0}])
    assert outcome.problem["kind"] == "AbortError"
    assert outcome.events == []
    assert server.sql("select count(*) from chats_message") == [(0,)]
    assert "POST" not in server.output()


def test_every_call_of_the_typescript_client(typescript: TypeScript, site: Server) -> None:
    rated = {"name": "rate", "args": ["$chat", "$message", {"rating": "up", "comment": "Good."}]}
    outcomes = typescript.run(
        site.url,
        [
            Ask("Where is the lighthouse?"),
            {"name": "chats", "args": [{"search": "lighthouse", "limit": 1}]},
            rated,
            Call("chat", "$chat"),
            Call("unrate", "$chat", "$message"),
            Call("rename", "$chat", "Lamps"),
            Call("markdown", "$chat"),
            Call("search", "lamp"),
            Call("stop", "$chat"),
            Call("remove", "$chat"),
            Call("chat", "$chat"),
        ],
    )
    asked, listed, rating, chat, unrated, renamed, text, found, idle, removed, gone = outcomes
    chat_id = asked.events[0]["chat_id"]
    assert [one["id"] for one in listed.value["results"]] == [chat_id]
    assert rating.value == {"rating": "up", "comment": "Good."}
    assert [one["role"] for one in chat.value["messages"]] == ["user", "assistant"]
    assert chat.value["messages"][1]["feedback"] == rating.value
    assert unrated.problem is None
    assert renamed.value["title"] == "Lamps"
    assert text.value.startswith("# Lamps")
    assert found.value["hits"] == []
    assert idle.problem["code"] == "NOT_RUNNING"
    assert removed.problem is None
    assert gone.problem["code"] == "CHAT_NOT_FOUND"


async def test_a_stop_ends_the_stream_as_interrupted(slow: Server) -> None:
    async with fastrag_client.AsyncClient(slow.url) as client:
        events, stopped = [], ""
        async with aclosing(client.ask("Why?")) as stream:
            async for event in stream:
                events.append(event)
                if isinstance(event, fastrag_client.Delta) and not stopped:
                    stopped = await client.stop(events[0].chat_id)
    assert stopped == events[0].message_id
    assert events[-1] == fastrag_client.MessageEnd(message_id=stopped, finish_reason="interrupted")


async def test_a_task_that_is_cancelled_interrupts_the_answer(slow: Server) -> None:
    async with fastrag_client.AsyncClient(slow.url) as client:
        first: asyncio.Future[fastrag_client.Event] = asyncio.Future()

        async def read() -> None:
            async with aclosing(client.ask("Why?")) as stream:
                async for event in stream:
                    if not first.done():
                        first.set_result(event)

        task = asyncio.create_task(read())
        event = await first
        assert isinstance(event, fastrag_client.MessageStart)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        until(lambda: answers(slow, event.chat_id), 10, "stored answer")
    assert answers(slow, event.chat_id)[0][0] == "interrupted"
