"""Frames between the crawl's parent and its child process: a JSON head and raw bytes.

Below: ingest.base. Above: process (parent), child and output (child).
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from retrieval.ingest.base import CrawlEnd, CrawlRequest, Fetched, Known, Skipped

_SIZES = struct.Struct(">II")
# A frame beyond these is damage, not data.
MAX_HEAD = 64 * 1024 * 1024
MAX_BODY = 1024 * 1024 * 1024

ITEMS: Mapping[str, type[Fetched | Skipped | CrawlEnd]] = {
    "fetched": Fetched,
    "skipped": Skipped,
    "end": CrawlEnd,
}
NAMES = {kind: name for name, kind in ITEMS.items()}


class BadFrame(Exception):
    """The other side did not send what the protocol says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How the child fetches: the crawl keys of the configuration, and the log level wanted."""

    user_agent: str
    max_bytes: int
    timeout_seconds: float
    concurrency: int
    retries: int
    retry_seconds: float
    log_level: int

    @property
    def robot(self) -> str:
        """The product token that robots.txt and robots directives address."""
        return self.user_agent.partition("/")[0].split()[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    name: str
    head: Mapping[str, Any]
    body: bytes = b""


def encode(name: str, head: Mapping[str, Any], body: bytes = b"") -> bytes:
    packed = json.dumps([name, head], separators=(",", ":")).encode()
    return _SIZES.pack(len(packed), len(body)) + packed + body


class Decoder:
    """Bytes in any pieces → frames. Raises BadFrame."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[Frame]:
        self._buffer += data
        while len(self._buffer) >= _SIZES.size:
            head, body = _SIZES.unpack_from(self._buffer)
            if head > MAX_HEAD or body > MAX_BODY:
                raise BadFrame("a frame is too large")
            end = _SIZES.size + head + body
            if len(self._buffer) < end:
                return
            frame = bytes(self._buffer[_SIZES.size : end])
            del self._buffer[:end]
            yield _frame(frame[:head], frame[head:])


def _frame(head: bytes, body: bytes) -> Frame:
    try:
        name, fields_ = json.loads(head)
        return Frame(name=name, head=dict(fields_), body=body)
    except (ValueError, TypeError) as error:
        raise BadFrame("a frame cannot be read") from error


def encode_item(item: Fetched | Skipped | CrawlEnd) -> bytes:
    head = {f.name: getattr(item, f.name) for f in fields(item) if f.name != "body"}
    return encode(NAMES[type(item)], head, item.body if isinstance(item, Fetched) else b"")


def decode_item(frame: Frame) -> Fetched | Skipped | CrawlEnd:
    """Raises BadFrame."""
    values = dict(frame.head)
    if frame.name == "fetched":
        values |= {"body": frame.body, "links": tuple(values.get("links", ()))}
    try:
        return ITEMS[frame.name](**values)
    except (KeyError, TypeError) as error:
        raise BadFrame("an item cannot be read") from error


def encode_job(request: CrawlRequest, options: Options) -> Iterator[bytes]:
    """One frame for the request, one for each known page, so that neither side holds them twice."""
    head = {f.name: getattr(request, f.name) for f in fields(request) if f.name != "known"}
    yield encode("request", {"request": head, "options": asdict(options)})
    for url, known in request.known.items():
        yield encode("known", {"url": url, **asdict(known)})
    yield encode("go", {})


def read_job(pieces: Iterable[bytes]) -> tuple[CrawlRequest, Options]:
    """Raises BadFrame where the pieces end early."""
    decoder = Decoder()
    first: Mapping[str, Any] | None = None
    known: dict[str, Known] = {}
    shared: dict[str, str] = {}  # the links of a site's pages are mostly the same
    for data in pieces:
        for frame in decoder.feed(data):
            if frame.name == "request":
                first = frame.head
            elif frame.name == "known":
                links = tuple(shared.setdefault(link, link) for link in frame.head["links"])
                known[frame.head["url"]] = Known(
                    etag=frame.head["etag"], last_modified=frame.head["last_modified"], links=links
                )
            elif frame.name == "go" and first is not None:
                request = CrawlRequest(**first["request"], known=known)
                return request, Options(**first["options"])
    raise BadFrame("the job ended early")
