"""A new chat's title by the chat model, once its first answer is stored. Delays nothing.

Below: titles, services (in a thread), a chat model that completes texts. Above: writing. Where the
model fails, is late or busy, the title made from the question stays; so does one that the owner
has chosen meanwhile.
"""

from __future__ import annotations

import asyncio
import logging
import unicodedata
from typing import Any, Protocol, runtime_checkable

from chats import services
from chats.generation.templates import title_text
from chats.services import Exchange
from chats.titles import title_from
from fastrag_site import shutdown
from fastrag_site.conf import conf
from fastrag_site.errors import FastragError
from fastrag_site.threads import in_thread

MOST_AT_ONCE = 4  # in a process; further chats keep the title they have
MAX_TOKENS = 400  # some models think first
SEEN_CHARS = 1_000  # of the question, and of the answer
_QUOTES = "\"'`*#“”„«»「」『』‘’"
_STOPS = ".。"

logger = logging.getLogger(__name__)
_running: set[asyncio.Task[None]] = set()


@runtime_checkable
class Completes(Protocol):
    async def complete(self, messages: Any, *, max_tokens: int) -> str: ...


def name_chat_later(model: object, exchange: Exchange, said: str) -> None:
    """Begin, in this event loop, and return at once."""
    if not (exchange.opens_chat and said and conf().model_titles):
        return
    if not isinstance(model, Completes) or len(_running) >= MOST_AT_ONCE or shutdown.draining():
        return
    task = asyncio.create_task(_name_chat(model, exchange, said))
    _running.add(task)
    task.add_done_callback(_running.discard)


def title_in(reply: str) -> str:
    """The title in what a model replied; "" where there is none to be used."""
    lines = [line.strip() for line in reply.splitlines() if line.strip()]
    if len(lines) != 1:
        return ""
    line = lines[0].strip(_QUOTES).removeprefix("Title:").strip()
    line = line.strip(_QUOTES).rstrip(_STOPS).strip(_QUOTES)
    if not any(unicodedata.category(character)[0] in "LN" for character in line):
        return ""
    return title_from(line)


async def _name_chat(model: Completes, exchange: Exchange, said: str) -> None:
    work = asyncio.current_task()
    assert work is not None
    try:
        text = title_text(exchange.question[:SEEN_CHARS], said[:SEEN_CHARS])
        message = {"role": "user", "content": text}
        with shutdown.told(work.cancel):
            async with asyncio.timeout(conf().model_title_seconds):
                reply = await model.complete([message], max_tokens=MAX_TOKENS)
        if title := title_in(reply):
            await in_thread(
                services.chat_name,
                chat_id=exchange.chat_id,
                title=title,
                instead_of=title_from(exchange.question),
            )
    except (FastragError, TimeoutError):
        logger.info("a chat keeps its question as its title: the model gave none")
    except Exception:
        logger.warning("a chat was not named", exc_info=True)
