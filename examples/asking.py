"""Asks a running server, and prints sources, then the answer as it comes, then how it finished.

    python examples/asking.py "How do I index a site?" "And how often?"

Each further question is a follow-up in the same chat. `--async` does the same on an event loop.
Both use the client in clients/python, which needs httpx and nothing else.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Iterable
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "clients" / "python"))

from fastrag_client import (
    AsyncClient,
    Client,
    ConnectionLost,
    Delta,
    Event,
    MessageEnd,
    MessageStart,
    Refused,
    Sources,
)


@dataclass
class Printer:
    """Prints answers as they come; knows the chat, and how the last answer ended."""

    chat_id: str | None = None
    finish_reason: str = "interrupted"  # until message_end says otherwise
    out: TextIO = field(default_factory=lambda: sys.stdout)

    def take(self, event: Event) -> None:
        match event:
            case MessageStart(chat_id=chat_id):
                self.chat_id, self.finish_reason = chat_id, "interrupted"
            case Sources(sources=sources):
                for source in sources:
                    numbers = "".join(f"[{n}]" for n in source.positions)
                    self._print(f"{numbers} {source.title}\n    {source.link}\n")
                self._print("\n")
            case Delta(text=text):
                self._print(text)
            case MessageEnd(finish_reason=reason, error=error):
                self.finish_reason = reason
                detail = f": {error.code}, {error.message}" if error else ""
                self._print(f"\n({reason}{detail})\n")

    @property
    def went_well(self) -> bool:
        return self.finish_reason in ("stop", "length")

    def _print(self, text: str) -> None:
        print(text, end="", file=self.out, flush=True)


def ask(client: Client, questions: Iterable[str], printer: Printer) -> bool:
    for question in questions:
        for event in client.ask(question, chat_id=printer.chat_id):
            printer.take(event)
        if not printer.went_well:
            return False
    return True


async def ask_async(client: AsyncClient, questions: Iterable[str], printer: Printer) -> bool:
    for question in questions:
        async with aclosing(client.ask(question, chat_id=printer.chat_id)) as events:
            async for event in events:
                printer.take(event)
        if not printer.went_well:
            return False
    return True


async def run_async(options: argparse.Namespace, printer: Printer) -> bool:
    async with AsyncClient(options.server, api_key=options.api_key) as client:
        return await ask_async(client, options.question, printer)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("question", nargs="+")
    parser.add_argument("--server", default="http://127.0.0.1:8000")
    parser.add_argument("--chat", help="id of a chat of yours to go on with")
    parser.add_argument("--api-key")
    parser.add_argument("--async", action="store_true", dest="on_a_loop")
    options = parser.parse_args()
    printer = Printer(chat_id=options.chat)
    try:
        if options.on_a_loop:
            went_well = asyncio.run(run_async(options, printer))
        else:
            with Client(options.server, api_key=options.api_key) as client:
                went_well = ask(client, options.question, printer)
    except Refused as refusal:
        print(refusal, file=sys.stderr)
        return 1
    except ConnectionLost as error:
        print(f"The server is not reachable: {error}", file=sys.stderr)
        return 1
    return 0 if went_well else 1


if __name__ == "__main__":
    sys.exit(main())
