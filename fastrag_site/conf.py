"""Typed view of `settings.FASTRAG`: every key with its default, unit and meaning.

Below: django.conf. Above: everything that needs a limit or a choice. `settings.py` fills
`settings.FASTRAG` from `FASTRAG_<KEY>` environment variables; `override_settings(FASTRAG={…})`
works in tests. Use: `from fastrag_site.conf import conf` and `conf().keepalive_seconds`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.core.signals import setting_changed

Backend = Mapping[str, Any]  # {"BACKEND": "dotted.path", "OPTIONS": {…}}


EXTRACTIVE: Backend = {"BACKEND": "chats.generation.extractive.ExtractiveModel"}
OPENAI_COMPATIBLE: Backend = {"BACKEND": "chats.generation.openai_compatible.OpenAICompatibleModel"}
MINILM: Backend = {"BACKEND": "retrieval.embedding.minilm.MiniLMEmbedder"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Conf:
    # Backends
    chat_model: Backend = field(default_factory=lambda: EXTRACTIVE, repr=False)
    embedder: Backend | None = field(default_factory=lambda: MINILM)
    reranker: Backend | None = None

    # A chat model behind a server that speaks Chat Completions. The address alone chooses its
    # backend; OPTIONS of CHAT_MODEL go before these. See docs/models.md.
    chat_base_url: str = field(default="", repr=False)  # up to and without /chat/completions
    chat_model_name: str = ""
    chat_api_key: str = field(default="", repr=False)
    chat_temperature: float | None = None  # None: the server's own
    chat_context_window: int = 8_192  # tokens that prompt and answer share
    chat_extra_headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    chat_extra_body: Mapping[str, Any] = field(default_factory=dict, repr=False)

    # Who may ask
    allow_anonymous: bool = True
    anonymous_days: int = 180  # that an anonymous session and its chats stay reachable
    widget_origins: Sequence[str] = ()  # sites that may show the page in a frame: "https://a.org"

    # Streams (seconds)
    keepalive_seconds: float = 15.0  # longest silence on an open stream
    heartbeat_seconds: float = 5.0  # how often a running generation marks its journal row
    heartbeat_grace: float = 30.0  # a journal row this old belongs to a dead worker
    stop_poll_seconds: float = 0.25  # how soon a stop asked of another worker is noticed
    shutdown_grace_seconds: float = 10.0  # open streams end within this after SIGTERM

    # Generation bounds
    rewrite_seconds: float = 5.0  # for the model to make a follow-up searchable; 0: it is not asked
    retrieval_seconds: float = 30.0
    first_token_seconds: float = 60.0
    token_silence_seconds: float = 30.0
    generation_seconds: float = 300.0
    answer_max_tokens: int = 1024
    answer_passages: int = 8  # chunks that the answer is drawn from
    answer_min_confidence: float = 0.5  # below: "the pages do not hold the answer"

    # Caps
    request_max_bytes: int = 1_000_000
    message_max_chars: int = 8_000
    title_max_chars: int = 200
    feedback_max_chars: int = 2_000  # of a comment on an answer
    chat_max_messages: int = 200
    chats_per_owner: int = 1_000
    generations_per_owner: int = 4
    generations_per_worker: int = 200
    requests_per_minute: int = 300  # per owner
    idempotency_hours: float = 24.0  # that an Idempotency-Key is remembered

    # Titles of chats by the chat model, where it can complete a text; else the first question
    model_titles: bool = True
    model_title_seconds: float = 15.0

    # Crawling
    crawl_user_agent: str = "FastragSite/0.1 (+https://example.org/fastrag-site)"
    crawl_depth: int = 10  # links from the start page
    crawl_max_pages: int = 5_000
    crawl_max_bytes: int = 10_000_000  # decoded bytes a document
    crawl_timeout_seconds: float = 20.0
    crawl_concurrency: int = 4  # requests in flight a host
    crawl_retries: int = 2
    crawl_retry_seconds: float = 2.0  # before the first retry; each next wait is longer
    crawl_seconds: float = 21_600.0  # a whole crawl; beyond it fails and nothing is pruned
    pdf_seconds: float = 30.0  # a PDF that takes longer is skipped, its parser killed
    pdf_max_pages: int = 1_000

    # Chunks (words)
    chunk_target_words: int = 160
    chunk_max_words: int = 200

    # Retrieval
    search_max_k: int = 100
    candidate_k: int = 100  # hits a leg brings to fusion
    fusion_alpha: float = 0.7  # weight of the dense leg in convex fusion
    mmr_lambda: float = 0.85  # 1.0 is relevance alone, less is more variety
    query_max_chars: int = 8_000

    # RCP
    rcp_seconds: float = 60.0  # a request that takes longer fails
    rcp_concurrency: int = 8  # requests that a process works on at once
    rcp_backlog: int = 200  # requests that wait for that
    rcp_batch_max: int = 50  # messages of one batch
    rcp_session_seconds: int = 1_800  # that a session's hits are remembered after its last request
    rcp_documents_per_call: int = 100
    rcp_documents_max: int = 100_000  # added documents in the index
    rcp_vectors_seconds: float = 20.0  # that adding documents spends on their vectors
    rcp_texts_max: int = 64  # that one call embeds or reranks


@lru_cache(maxsize=1)
def conf() -> Conf:
    """The configuration in force. Raises ValueError that names an unknown key."""
    given: Mapping[str, Any] = getattr(settings, "FASTRAG", {})
    known = {f.name.upper() for f in fields(Conf)}
    unknown = sorted(set(given) - known)
    if unknown:
        raise ValueError(f"settings.FASTRAG has unknown keys: {', '.join(unknown)}")
    values = {key.lower(): value for key, value in given.items()}
    if values.get("chat_base_url"):
        values.setdefault("chat_model", OPENAI_COMPATIBLE)
    return Conf(**values)


def _forget(*, setting: str, **_: Any) -> None:
    if setting == "FASTRAG":
        conf.cache_clear()


setting_changed.connect(_forget)
