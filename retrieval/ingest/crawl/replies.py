"""What came back for an address, free of the HTTP library. Pure values; above: session, spider."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

# Statuses that say "later", and those behind which the whole site may be down.
TRANSIENT = frozenset({408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 530})
OVERLOADED = frozenset({429, 502, 503, 504, 521, 522, 523, 524})
GONE = frozenset({404, 410})
REDIRECTS = frozenset({301, 302, 303, 307, 308})


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A response, decoded from content encodings."""

    status: int
    headers: Mapping[str, tuple[str, ...]]  # names in lower case
    body: bytes = b""

    def header(self, name: str) -> str:
        return (self.headers.get(name) or ("",))[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why no response came: `fatal` ends the crawl, `down` hints that the site is unreachable."""

    reason: str
    transient: bool = False
    fatal: bool = False
    down: bool = False
