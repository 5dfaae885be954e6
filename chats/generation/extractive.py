"""The default chat model: quotes the sentences of the passages that answer best, with their [n].

It needs no key and no download, and cannot invent. Below: candidates, relevance, wording, and the
embedder where there is one. Above: conf names it.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from chats.generation.base import Finished, Piece, Prompt, StopReason, Token, Usage
from chats.generation.candidates import candidates_from
from chats.generation.relevance import choose
from chats.generation.scoring import Similarity
from chats.generation.wording import not_found, quoted, tokens_of
from fastrag_site.conf import conf
from fastrag_site.threads import run_in
from retrieval.embedding import embedder

# Its own threads, and few: choosing takes processor time, and must not keep others waiting.
_CHOOSING = ThreadPoolExecutor(2, "choose")

logger = logging.getLogger(__name__)


class ExtractiveModel:
    identity = "extractive"

    def __init__(self, *, delay: float = 0.0) -> None:
        """`delay`: seconds between tokens, for demonstrations."""
        self.delay = delay

    async def stream(self, prompt: Prompt) -> AsyncGenerator[Piece, None]:
        text = await run_in(_CHOOSING, partial(answer_to, prompt))
        said = 0
        reason = StopReason.STOP
        for token in tokens_of(text):
            if said == prompt.max_tokens:
                reason = StopReason.LENGTH
                break
            yield Token(text=token)
            said += 1
            if self.delay:
                await asyncio.sleep(self.delay)
        read = sum(len(passage.text.split()) for passage in prompt.passages)
        yield Finished(reason=reason, usage=Usage(prompt_tokens=read, completion_tokens=said))


def answer_to(prompt: Prompt) -> str:
    """The whole answer. Takes processor time: run it in a thread."""
    if not prompt.passages or prompt.confidence < conf().answer_min_confidence:
        return not_found(prompt.question)
    chosen = choose(prompt, candidates_from(prompt.passages), similarity_for(prompt))
    return quoted(chosen) or not_found(prompt.question)


def similarity_for(prompt: Prompt) -> Similarity:
    """By the embedder, where there is one that counts for the language of the passages."""
    languages = Counter(passage.language for passage in prompt.passages)
    language, _ = languages.most_common(1)[0]

    def similarity(question: str, texts: Sequence[str]) -> list[float] | None:
        encoder = embedder()
        if encoder is None or not texts or encoder.weight(language) <= 0:
            return None
        try:
            passages = encoder.embed_passages(texts)
            return [float(near) for near in passages @ encoder.embed_query(question)]
        except Exception:  # words alone choose well enough
            logger.warning("sentences are chosen without the embedder", exc_info=True)
            return None

    return similarity
