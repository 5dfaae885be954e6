"""A small web that crawls itself, an embedder that counts, and what was stored: for sync tests."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar
from urllib.parse import urljoin

import numpy as np
from numpy.typing import NDArray

from retrieval.embedding.errors import EmbedderUnavailable
from retrieval.index import sparse_index
from retrieval.ingest import sync
from retrieval.ingest.base import CrawlEnd, CrawlRequest, Fetched, Skipped
from retrieval.ingest.summary import SiteSummary
from retrieval.models import Chunk, Page

SITE = "https://docs.example/"


def html(
    title: str, *paragraphs: str, head: str = "", links: Sequence[str] = (), lang: str = "en"
) -> str:
    text = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
    anchors = "".join(f'<p><a href="{link}">A link to somewhere else.</a></p>' for link in links)
    return (
        f'<html lang="{lang}"><head><meta charset="utf-8"><title>{title}</title>{head}</head>'
        f"<body><main><h1>{title}</h1>{text}{anchors}</main></body></html>"
    )


@dataclass(slots=True)
class Answer:
    """What the small web answers at one address."""

    body: str = ""
    etag: str = ""
    media_type: str = "text/html"
    noindex: bool = False
    requested_url: str | None = None
    url: str | None = None  # where a redirect led
    linked_from: str | None = None


@dataclass(slots=True)
class Web:
    """Stands in for the crawler: answers in order, conditionally where an etag is known."""

    answers: dict[str, Answer | Skipped] = field(default_factory=dict)
    end: CrawlEnd = field(default_factory=lambda: CrawlEnd(complete=True))
    requests: list[CrawlRequest] = field(default_factory=list)
    breaks_after: int | None = None
    before_end: Callable[[], object] = lambda: None

    def put(self, path: str, body: str, **given: object) -> None:
        answer = Answer(body=body)
        for name, value in given.items():
            setattr(answer, name, value)
        self.answers[SITE + path] = answer

    def skip(self, path: str, **given: bool) -> None:
        self.answers[SITE + path] = Skipped(url=SITE + path, reason="HTTP error", **given)

    def crawl(self, request: CrawlRequest) -> Iterator[Fetched | Skipped | CrawlEnd]:
        self.requests.append(request)
        for number, (url, answer) in enumerate(self.answers.items()):
            if number == self.breaks_after:
                raise ConnectionError("broke off")
            yield answer if isinstance(answer, Skipped) else self._fetched(request, url, answer)
        self.before_end()
        yield self.end

    def _fetched(self, request: CrawlRequest, url: str, answer: Answer) -> Fetched:
        known = request.known.get(url)
        not_modified = bool(known and answer.etag and known.etag == answer.etag)
        return Fetched(
            url=answer.url or url,
            requested_url=answer.requested_url or url,
            media_type=answer.media_type,
            charset=None,
            body=b"" if not_modified else answer.body.encode(),
            etag=answer.etag,
            noindex=answer.noindex,
            not_modified=not_modified,
            linked_from=answer.linked_from,
            links=tuple(urljoin(url, link) for link in re.findall('<a href="(.*?)"', answer.body)),
        )


class CountingEmbedder:
    """Vectors from the bytes of the text; counts what it is asked for."""

    identity = "counting-1"
    dimension = 8
    embedded: ClassVar[list[str]] = []
    is_out: ClassVar[bool] = False

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self.is_out:
            raise EmbedderUnavailable("the weights are missing")
        self.embedded.extend(texts)
        return np.stack([self.embed_query(text) for text in texts])

    def embed_query(self, text: str) -> NDArray[np.float32]:
        counts = np.bincount(np.frombuffer(text.encode(), np.uint8) % 8, minlength=8)
        vector = counts.astype(np.float32) + 1
        return np.asarray(vector / np.linalg.norm(vector), np.float32)

    def weight(self, language: str) -> float:
        return 1.0


def run(source: str = SITE, **options: Any) -> SiteSummary:
    (summary,) = sync([source], **{"vectors": False, **options}).sites
    return summary


def urls() -> set[str]:
    searchable = Page.objects.filter(chunks__isnull=False)
    return {url.removeprefix(SITE) for url in searchable.values_list("url", flat=True)}


def found(text: str) -> set[str]:
    hits = sparse_index().search(text, language="en", k=10)
    chunks = Chunk.objects.filter(pk__in=[hit.chunk_id for hit in hits])
    return {url.removeprefix(SITE) for url in chunks.values_list("page__url", flat=True)}
