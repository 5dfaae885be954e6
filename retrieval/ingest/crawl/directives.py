"""What a page asks of robots: X-Robots-Tag headers and robots meta elements. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

# `name: value` directives; any other colon names the robot that is addressed.
_WITH_VALUE = frozenset(
    {"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Directives:
    noindex: bool = False
    nofollow: bool = False


def read_directives(values: Iterable[str], *, robot: str) -> Directives:
    """Of several header or content values; those that address another robot do not count."""
    found: set[str] = set()
    for value in values:
        name, colon, rest = value.partition(":")
        named = name.strip().lower()
        if colon and named not in _WITH_VALUE and "," not in named:
            if named != robot.lower():
                continue
            value = rest
        found |= {directive.strip().lower() for directive in value.split(",")}
    none = "none" in found
    return Directives(noindex=none or "noindex" in found, nofollow=none or "nofollow" in found)
