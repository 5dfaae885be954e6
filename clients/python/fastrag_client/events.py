"""The events of an answer, as values. Names and fields are those of the stream."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal
from urllib.parse import quote

FinishReason = Literal["stop", "length", "error", "interrupted"]
StreamErrorCode = Literal[
    "TIMEOUT", "CONTEXT_TOO_LONG", "SERVICE_UNAVAILABLE", "MODEL_ERROR", "INTERNAL_ERROR"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fragment:
    """Where a passage stands on its page: the words that it starts and ends with."""

    start: str
    end: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A retrieved page. `positions`: the numbers n that the answer cites it by, as [n]."""

    url: str
    title: str
    site_name: str | None
    favicon_url: str | None
    positions: tuple[int, ...]
    fragments: tuple[Fragment, ...]

    @property
    def link(self) -> str:
        """The page's url with a text fragment that scrolls to the passages and highlights them."""
        texts = [
            "text=" + ",".join(_encoded(term) for term in (one.start, one.end) if term)
            for one in self.fragments
        ]
        if not texts:
            return self.url
        mark = ":~:" if "#" in self.url else "#:~:"
        return f"{self.url}{mark}{'&'.join(texts)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageStart:
    name: ClassVar[str] = "message_start"
    chat_id: str
    user_message_id: str
    message_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    name: ClassVar[str] = "sources"
    message_id: str
    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Delta:
    name: ClassVar[str] = "delta"
    message_id: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why an answer ended with `error`."""

    code: StreamErrorCode
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageEnd:
    name: ClassVar[str] = "message_end"
    message_id: str
    finish_reason: FinishReason
    error: Failure | None = None  # with "error", and with it alone


Event = MessageStart | Sources | Delta | MessageEnd


def event_of(name: str, data: Mapping[str, Any]) -> Event | None:
    """None for an event of a later version. Raises LookupError or TypeError for a broken one."""
    match name:
        case "message_start":
            return MessageStart(
                chat_id=data["chat_id"],
                user_message_id=data["user_message_id"],
                message_id=data["message_id"],
            )
        case "sources":
            sources = tuple(_source(source) for source in data["sources"])
            return Sources(message_id=data["message_id"], sources=sources)
        case "delta" if data["delta"]["type"] == "text":
            return Delta(message_id=data["message_id"], text=data["delta"]["text"])
        case "message_end":
            error = data.get("error")
            failure = Failure(code=error["code"], message=error["message"]) if error else None
            return MessageEnd(
                message_id=data["message_id"], finish_reason=data["finish_reason"], error=failure
            )
    return None


def _source(data: Mapping[str, Any]) -> Source:
    return Source(
        url=data["url"],
        title=data["title"],
        site_name=data["site_name"],
        favicon_url=data["favicon_url"],
        positions=tuple(data["positions"]),
        fragments=tuple(Fragment(start=one["start"], end=one["end"]) for one in data["fragments"]),
    )


def _encoded(term: str) -> str:
    return quote(term, safe="").replace("-", "%2D")
