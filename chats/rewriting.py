"""What to search for in a running chat: the question, rewritten by the chat model to stand alone.

Below: followups, whose enrichment is used where the model cannot, rewrite_prompt. Above: writing.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Sequence

from chats import followups
from chats.earlier import told
from chats.generation.base import ChatModel, Completing, Turn
from chats.generation.errors import GenerationFailed
from chats.rewrite_prompt import TURNS, messages_for
from fastrag_site.conf import conf

MAX_TOKENS = 64  # of a query
MAX_CHARS = 240  # a longer one is no query, or was cut at its tokens
QUESTION_CHARS = 1_000  # a longer question stands alone

_LABEL = re.compile(r"^(?:(?:search |stand-?alone )?(?:query|question)|message)\s*[:：]\s*", re.I)
_NOTHING = re.compile(r"(?:</?\w+>)*")
_OFFER = re.compile(r"[^.!?。！？]{1,300}[?？]\s*$")
_AROUND = " \t\"'`*“”„«»「」"

logger = logging.getLogger(__name__)


async def query_for(question: str, history: Sequence[Turn], model: ChatModel) -> str:
    """Never fails, and takes no longer than the setting allows."""
    fallback = followups.query_for(question, history)
    turns = told(history)[-TURNS:]
    seconds = conf().rewrite_seconds
    if not turns or not seconds or len(question) > QUESTION_CHARS:
        return fallback
    if not isinstance(model, Completing):
        return fallback
    try:
        async with asyncio.timeout(seconds):
            said = await model.complete(messages_for(question, turns), max_tokens=MAX_TOKENS)
    except (TimeoutError, GenerationFailed) as error:
        logger.info("a question is searched as asked: %s", type(error).__name__)
        return fallback
    except Exception:
        logger.warning("a question is searched as asked", exc_info=True)
        return fallback
    return usable(said, question, turns) or fallback


def usable(said: str, question: str, turns: Sequence[Turn]) -> str:
    """The query that a model wrote; "" where it wrote something else, or the question again."""
    lines = [line for line in map(str.strip, said.splitlines()) if not _NOTHING.fullmatch(line)]
    if len(lines) != 1:
        return ""
    query = _LABEL.sub("", lines[0].strip(_AROUND)).strip(_AROUND)
    if not query or len(query) > MAX_CHARS or ("<" in query and "</" in query):
        return ""
    if query.casefold() == question.strip().casefold():
        return ""
    return query if _is_about(query, question, turns) else ""


def _is_about(query: str, question: str, turns: Sequence[Turn]) -> bool:
    """Whether it keeps to what was asked: more than half of the question's own words, or where it
    has none, a word of what was asked or offered last. Others were made up, or left behind.
    """
    words, own = followups.topic_words(query), followups.topic_words(question)
    if own:
        return 2 * len(words & own) > len(own)
    offered = _OFFER.search(turns[-1].answer)
    asked = (followups.topic_words(turn.question) for turn in reversed(turns))
    latest = next(filter(None, asked), frozenset())
    return bool(words & (latest | followups.topic_words(offered.group() if offered else "")))
