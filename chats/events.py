"""The events of an answer's stream, as values. A leaf.

Above: answering yields them, views encode them, the ask command prints them. `to_dict` gives the
frame's data exactly as API.md draws it; event_schemas.py describes the same for OpenAPI.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar
from uuid import UUID

from retrieval.types import Fragment


class FinishReason(StrEnum):
    STOP = "stop"
    LENGTH = "length"
    ERROR = "error"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A retrieved page. `positions`: the numbers n that the answer cites it by, as [n]."""

    url: str
    title: str
    site_name: str | None
    favicon_url: str | None
    positions: tuple[int, ...]
    fragments: tuple[Fragment, ...]

    def to_dict(self) -> dict[str, Any]:
        return {
            "url": self.url,
            "title": self.title,
            "site_name": self.site_name,
            "favicon_url": self.favicon_url,
            "positions": list(self.positions),
            "fragments": [{"start": term.start, "end": term.end} for term in self.fragments],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Source:
        """What `to_dict` gave, as it is stored."""
        return cls(
            url=data["url"],
            title=data["title"],
            site_name=data["site_name"],
            favicon_url=data["favicon_url"],
            positions=tuple(data["positions"]),
            fragments=tuple(
                Fragment(start=term["start"], end=term["end"]) for term in data["fragments"]
            ),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageStart:
    name: ClassVar[str] = "message_start"
    chat_id: UUID
    user_message_id: UUID
    message_id: UUID

    def to_dict(self) -> dict[str, Any]:
        return {
            "chat_id": str(self.chat_id),
            "user_message_id": str(self.user_message_id),
            "message_id": str(self.message_id),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    name: ClassVar[str] = "sources"
    message_id: UUID
    sources: tuple[Source, ...]

    def to_dict(self) -> dict[str, Any]:
        return {
            "message_id": str(self.message_id),
            "sources": [source.to_dict() for source in self.sources],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Delta:
    name: ClassVar[str] = "delta"
    message_id: UUID
    text: str

    def to_dict(self) -> dict[str, Any]:
        return {"message_id": str(self.message_id), "delta": {"type": "text", "text": self.text}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why an answer ended with `error`: a stream error code, and words of ours."""

    code: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageEnd:
    name: ClassVar[str] = "message_end"
    message_id: UUID
    finish_reason: FinishReason
    error: Failure | None = None

    def to_dict(self) -> dict[str, Any]:
        data: dict[str, Any] = {
            "message_id": str(self.message_id),
            "finish_reason": self.finish_reason.value,
        }
        if self.error is not None:
            data["error"] = {"code": self.error.code, "message": self.error.message}
        return data


Event = MessageStart | Sources | Delta | MessageEnd
Batches = AsyncGenerator[Sequence[Event], None]  # of events that are ready together
