"""One document as a caller gives it → the page that it becomes. Reads nothing from the database.

Below: parse, chunk, spans. Above: documents. Of a document's `meta`, these say something about the
page: `title`, `url` (where the text stands on the web), `siteName`, `language`, and `mediaType`
(text/plain unless it is text/markdown or text/html).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any
from urllib.parse import quote

from retrieval.ingest.base import Block, BlockKind, Document, Fetched, Passage, Skipped
from retrieval.ingest.chunk import passages
from retrieval.ingest.crawl.urls import normalise
from retrieval.ingest.ledger import recipe
from retrieval.ingest.parse import HTML, MARKDOWN, cleaned, parse
from retrieval.ingest.spans import Span, spans
from retrieval.ingest.store import PageWrite
from retrieval.ingest.words import has_ink

LOCATION = "rcp:documents"  # of the site that added documents belong to
NAME_CHARS = 200
META_BYTES = 16_384
MARKUP = HTML | MARKDOWN
_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")  # in JSON


class DocumentRefused(ValueError):
    """A document that cannot be stored: which one of those given, and what of it."""

    def __init__(self, message: str, *, position: int, part: str) -> None:
        super().__init__(message)
        self.position = position
        self.part = part


@dataclass(frozen=True, slots=True, kw_only=True)
class NewDocument:
    """As a caller gives it. Without a name it is known by what it says."""

    text: str
    name: str | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A document cut into passages, ready to be stored."""

    write: PageWrite
    spans: Sequence[Span | None]


class Draft:
    """A document that may be stored. Raises DocumentRefused."""

    def __init__(self, given: NewDocument, *, position: int, chunk: bool) -> None:
        self.text, self.meta = given.text, dict(given.meta)
        self._position = position
        self._chunk = chunk
        if not self.text or not has_ink(self.text):
            raise self._refusal("text", "holds no text")
        meta = _encoded(self.meta)
        if meta is None or len(meta) > META_BYTES:
            raise self._refusal("meta", f"must have at most {META_BYTES} bytes, and no NUL")
        content = meta + b"\n" + self._body
        self.name = hashlib.sha256(content).hexdigest()[:32] if given.name is None else given.name
        if not 0 < len(self.name) <= NAME_CHARS or cleaned(self.name) != self.name:
            raise self._refusal("id", f"must have 1 to {NAME_CHARS} characters, no controls")
        how = f"{chunk} {recipe()}\n".encode()
        self.digest = hashlib.sha256(how + content).hexdigest()

    @property
    def _body(self) -> bytes:
        return self.text.encode(errors="replace")

    @cached_property
    def url(self) -> str:
        """Where the text stands on the web; "" where its `meta` does not say."""
        try:
            return normalise(self._said("url"))
        except ValueError:
            return ""

    def read(self) -> Reading:
        """Slow for long texts: not inside of a transaction. Raises DocumentRefused."""
        media_type = self._said("mediaType").lower()
        media_type = media_type if media_type in MARKUP else "text/plain"
        parsed = parse(self._fetched(media_type, self._body))
        if isinstance(parsed, Skipped):
            raise self._refusal("text", f"could not be read: {parsed.reason}")
        found = passages(parsed) if self._chunk else [self._whole()]
        if not found:
            raise self._refusal("text", "holds no text")
        if not self.url:  # no browser can look for it
            found = [replace(passage, fragment=None, anchor=None) for passage in found]
        write = PageWrite(
            url=f"{LOCATION}/{quote(self.name, safe='')}",
            fetched=self._fetched(media_type),
            content_hash=self.digest,
            recipe=recipe(),
            document=self._described(parsed),
            passages=tuple(replace(passage, blocks=()) for passage in found),
        )
        is_verbatim = media_type not in MARKUP
        texts = [passage.text for passage in found]
        return Reading(write=write, spans=spans(self.text, texts) if is_verbatim else ())

    def _refusal(self, part: str, message: str) -> DocumentRefused:
        return DocumentRefused(message, position=self._position, part=part)

    def _said(self, name: str) -> str:
        value = self.meta.get(name)
        return cleaned(value).strip() if isinstance(value, str) else ""

    def _fetched(self, media_type: str, body: bytes = b"") -> Fetched:
        url = self.url or LOCATION
        return Fetched(
            url=url, requested_url=url, media_type=media_type, charset="utf-8", body=body
        )

    def _whole(self) -> Passage:
        text = cleaned(self.text).strip()
        block = Block(kind=BlockKind.PARAGRAPH, text=text, section=(), anchor=None)
        return Passage(text=text, blocks=(block,))

    def _described(self, parsed: Document) -> Document:
        found = parsed.title if len(parsed.blocks) > 1 else None  # an only line is no title
        return Document(
            title=self._said("title") or found or self.name,
            site_name=self._said("siteName") or parsed.site_name,
            language=self._said("language").partition("-")[0].lower() or parsed.language,
        )


def _encoded(meta: Mapping[str, Any]) -> bytes | None:
    """One spelling of equal values. None for what one of the databases cannot keep."""
    text = json.dumps(meta, sort_keys=True, ensure_ascii=False)
    try:
        return None if _NUL.search(text) else text.encode()
    except UnicodeEncodeError:
        return None
