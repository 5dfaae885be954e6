"""`manage.py ask "…"`: an answer with its sources, streamed into the terminal."""

from __future__ import annotations

import asyncio
import unicodedata
from argparse import ArgumentParser
from contextlib import aclosing
from typing import Any
from uuid import UUID

from django.core.management.base import CommandError

from chats import answering, selectors
from chats.events import Delta, Event, FinishReason, MessageEnd, MessageStart, Source, Sources
from chats.handover import one_by_one
from chats.models import Chat
from fastrag_site.commands import SiteCommand
from fastrag_site.errors import ChatNotFound, RequestRefused
from fastrag_site.owners import Owner
from fastrag_site.threads import in_thread
from retrieval.ingest.fragments import directive

CONSOLE = Owner(session_key="console")  # owns the chats that are begun here


class Command(SiteCommand):
    help = "Asks a question, and streams the answer with its sources."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("question")
        parser.add_argument("--chat", metavar="ID", help="go on with this chat, whoever owns it")

    def handle(self, *args: Any, question: str, chat: str | None, **options: Any) -> None:
        if not question.strip():
            raise CommandError("Ask something.")
        try:
            owner, chat_id = _place_of(chat)
            end = asyncio.run(self.answer(owner, question, chat_id))
        except RequestRefused as refusal:
            raise CommandError(refusal.message) from refusal
        except KeyboardInterrupt:
            raise CommandError("interrupted; what was said is stored", returncode=130) from None
        if end is not None and end.finish_reason is FinishReason.ERROR:
            raise CommandError("The answer failed.")

    async def answer(self, owner: Owner, question: str, chat_id: UUID | None) -> MessageEnd | None:
        begun = await in_thread(answering.begin, owner=owner, question=question, chat_id=chat_id)
        last = None
        async with aclosing(one_by_one(begun)) as events:
            async for event in events:
                self.show(event)
                last = event
        return last if isinstance(last, MessageEnd) else None

    def show(self, event: Event) -> None:
        match event:
            case MessageStart(chat_id=chat_id):
                self.stderr.write(f"chat {chat_id}", self.style.HTTP_INFO)
            case Sources(sources=sources):
                for source in sources:
                    self.stdout.write(_described(source))
                self.stdout.write("")
            case Delta(text=text):
                self.stdout.write(printable(text), ending="")
                self.stdout.flush()
            case MessageEnd(finish_reason=reason, error=error):
                why = f": {error.code}, {error.message}" if error else ""
                self.stdout.write(f"\n\n({reason}{why})")


def _place_of(chat: str | None) -> tuple[Owner, UUID | None]:
    """Who asks, and where. Raises ChatNotFound."""
    if chat is None:
        return CONSOLE, None
    chat_id = selectors.chat_id_from(chat)
    found = Chat.objects.filter(pk=chat_id).first()
    if found is None:
        raise ChatNotFound
    return Owner(user_id=found.user_id, session_key=found.session_key), chat_id


def _described(source: Source) -> str:
    numbers = "".join(f"[{number}]" for number in source.positions)
    link = source.url
    if text := directive(source.fragments):
        link += text if "#" in link else f"#{text}"
    return f"{numbers} {printable(source.title)}\n    {printable(link)}"


def printable(text: str) -> str:
    """Without control characters, which a page could use to command the terminal."""
    return "".join(c for c in text if c in "\n\t" or unicodedata.category(c) != "Cc")
