"""One answer being written: retrieval, the model, heartbeats, bounds and the settling.

Below: services (in threads), retrieval, a chat model. Above: answering. The work is a task of its
own: a generator stands still while its client does not read, and the bounds must not.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable, Generator
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.db import InterfaceError, OperationalError
from django.utils.translation import gettext_noop as _

from chats import budget, rewriting, services, stops, titling
from chats.bounds import LETTING_GO_SECONDS, Patience, bound, closing
from chats.capacity import Slot, slots_taken
from chats.events import Delta, Failure, FinishReason, Sources
from chats.generation.base import ChatModel, Finished, Prompt, StopReason, Usage
from chats.generation.errors import (
    GenerationFailed,
    InternalFailure,
    ModelError,
    UpstreamUnavailable,
)
from chats.handover import Handover
from chats.prompts import prompt_from
from chats.said import Said
from chats.services import Exchange
from chats.settling import settle_surely
from chats.sources import sources_from
from chats.storing import Outcome
from fastrag_site import metrics, shutdown
from fastrag_site.conf import conf
from fastrag_site.threads import drained, in_thread, to_the_end
from retrieval.types import Query, Retrieved, Stage

Retrieve = Callable[[Query], Generator[Stage, None, Retrieved]]

DELTA_BYTES = 100  # of a frame, without its text
CROWD = 100  # answers of a process that beat at the usual rate

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    finish_reason: FinishReason = FinishReason.INTERRUPTED
    failure: Failure | None = None
    usage: Usage | None = None


class Writing:
    def __init__(
        self, exchange: Exchange, *, model: ChatModel, retrieve: Retrieve, slot: Slot
    ) -> None:
        self.exchange = exchange
        self._model = model
        self._retrieve = retrieve
        self._slot = slot
        self._began = time.monotonic()
        self._said = Said()
        self._sources: list[dict[str, Any]] = []
        self._first_token_ms: int | None = None
        self._handover: Handover[Sources | Delta] = Handover()
        self._work: asyncio.Task[Verdict] | None = None
        self._heart: asyncio.Task[None] | None = None
        self._ending: asyncio.Task[Outcome] | None = None

    def batches(self) -> AsyncGenerator[list[Sources | Delta], None]:
        """Start to write; what comes of it until the work has ended."""
        self._work = asyncio.create_task(self._write())
        self._work.add_done_callback(self._after_work)
        self._heart = asyncio.create_task(self._beat())
        return self._handover.batches()

    async def finish(self) -> Outcome:
        """Stop what still runs and settle, once. Not to be stopped by a cancellation."""
        ending = self._begin_to_end()
        await to_the_end(_over(ending))
        return ending.result()

    # The work

    async def _write(self) -> Verdict:
        """The one place that turns what ends an answer into its outcome."""
        work = asyncio.current_task()
        assert work is not None
        try:
            with shutdown.told(work.cancel), stops.told(self.exchange.message_id, work.cancel):
                async with bound(conf().generation_seconds, _("The answer took too long.")):
                    finished = await self._speak(await self._prompt())
        except asyncio.CancelledError:
            return Verdict()
        except Exception as error:
            failed = _failed(error)
            failure = Failure(code=failed.code, message=failed.message)
            return Verdict(finish_reason=FinishReason.ERROR, failure=failure)
        return Verdict(finish_reason=FinishReason(finished.reason), usage=finished.usage)

    async def _prompt(self) -> Prompt:
        """Search, announce the sources, and put together what the model is given."""
        exchange = self.exchange
        query = await rewriting.query_for(exchange.question, exchange.history, self._model)
        async with bound(conf().retrieval_seconds, _("The search took too long.")):
            retrieved, prompt = await drained(partial(self._found, query))
        # The best hits are left, so each page keeps its number.
        sources = sources_from(retrieved.hits[: len(prompt.passages)])
        self._sources = [source.to_dict() for source in sources]
        await self._handover.put(Sources(message_id=exchange.message_id, sources=sources))
        return prompt

    def _found(self, text: str) -> Generator[Stage, None, tuple[Retrieved, Prompt]]:
        """In a thread."""
        exchange = self.exchange
        retrieved = yield from self._retrieve(Query(text=text, k=conf().answer_passages))
        prompt = prompt_from(
            question=exchange.question,
            query=text,
            retrieved=retrieved,
            sources=sources_from(retrieved.hits),
            history=exchange.history,
            max_tokens=conf().answer_max_tokens,
        )
        return retrieved, budget.fitted(prompt, self._model)

    async def _speak(self, prompt: Prompt) -> Finished:
        """Pass the model's tokens on until it has finished."""
        message_id, put = self.exchange.message_id, self._handover.put
        late = _("The model did not begin to answer in time.")
        silent = _("The model fell silent.")
        stream = self._model.stream(prompt)
        async with closing(stream), Patience(conf().first_token_seconds, late) as patience:
            while True:
                with patience:
                    piece = await anext(stream, None)
                if piece is None:
                    raise ModelError
                if isinstance(piece, Finished):
                    if piece.reason is StopReason.STOP and not self._said.tokens:
                        raise ModelError
                    return piece
                if text := _storable(piece.text):
                    if not self._said.tokens:
                        self._first_token_ms = self._elapsed_ms()
                        patience.become(conf().token_silence_seconds, silent)
                    self._said.add(text)
                    delta = Delta(message_id=message_id, text=text)
                    await put(delta, weight=DELTA_BYTES + len(text))

    # Beside the work

    async def _beat(self) -> None:
        """Keep the journal row alive and up to date; stop the work when nobody wants it."""
        saved, sources_saved = 0, False
        while True:
            await asyncio.sleep(_between_beats())
            tokens = self._said.tokens
            try:
                wanted = await in_thread(
                    services.generation_heartbeat,
                    message_id=self.exchange.message_id,
                    said=self._said.text() if tokens > saved else None,
                    sources=self._sources if self._sources and not sources_saved else None,
                )
            except Exception:
                logger.warning("a heartbeat was not written", exc_info=True)
                continue
            if not wanted:
                stops.stop_here(self.exchange.message_id)
                return
            saved, sources_saved = tokens, bool(self._sources)

    # The end

    def _after_work(self, work: asyncio.Task[Verdict]) -> None:
        """Settle at once: the reader may stand still for long, or never come back."""
        self._handover.close()
        self._begin_to_end()

    def _begin_to_end(self) -> asyncio.Task[Outcome]:
        if self._ending is None:
            self._ending = asyncio.create_task(self._end())
        return self._ending

    async def _end(self) -> Outcome:
        verdict = await self._verdict()
        outcome = Outcome(
            finish_reason=verdict.finish_reason,
            failure=verdict.failure,
            content=self._said.text(),
            sources=self._sources,
            model=self._model.identity,
            usage=verdict.usage,
            first_token_ms=self._first_token_ms,
            duration_ms=self._elapsed_ms(),
        )
        outcome = await settle_surely(self.exchange.message_id, outcome)
        if self._heart is not None:
            self._heart.cancel()
        self._slot.release()
        _count(outcome)
        if outcome.finish_reason in (FinishReason.STOP, FinishReason.LENGTH):
            titling.name_chat_later(self._model, self.exchange, outcome.content)
        return outcome

    async def _verdict(self) -> Verdict:
        if self._work is None:
            return Verdict()
        self._work.cancel()
        await asyncio.wait((self._work,), timeout=LETTING_GO_SECONDS + 0.1)
        if not self._work.done():
            logger.error("chat model %s ignores cancellation", self._model.identity)
            return Verdict()
        # Cancelled before its first step, it never came to its own verdict.
        return Verdict() if self._work.cancelled() else self._work.result()

    def _elapsed_ms(self) -> int:
        return round((time.monotonic() - self._began) * 1000)


def _between_beats() -> float:
    """Seconds. Where many answers run each beats less often, but well within the grace time."""
    crowded = conf().heartbeat_seconds * slots_taken() / CROWD
    return max(conf().heartbeat_seconds, min(crowded, conf().heartbeat_grace / 3))


async def _over(task: asyncio.Task[Outcome]) -> None:
    await asyncio.wait((task,))


def _count(outcome: Outcome) -> None:
    first = outcome.first_token_ms
    metrics.generation_finished(
        outcome.finish_reason,
        seconds=(outcome.duration_ms or 0) / 1000,
        first_token_seconds=None if first is None else first / 1000,
        error_code=outcome.failure.code if outcome.failure else "",
    )


def _failed(error: Exception) -> GenerationFailed:
    """What the client may know of an error; unknown ones are logged here, and only here."""
    if isinstance(error, GenerationFailed):
        return error
    if isinstance(error, (OperationalError, InterfaceError)):
        logger.warning("the index is out of reach", exc_info=error)
        return UpstreamUnavailable()
    logger.error("an answer failed", exc_info=error)
    return InternalFailure()


def _storable(text: str) -> str:
    """Without what no database takes: NUL, and halves of surrogate pairs."""
    if text.isascii() and "\0" not in text:
        return text
    return text.replace("\0", "").encode("utf-8", "replace").decode()
