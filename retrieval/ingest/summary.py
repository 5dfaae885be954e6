"""What a sync did: counted while it runs, shown by the command, stored on the site.

Below: nothing. Above: ingest.syncing, the sync command, the admin.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

EXAMPLES_PER_REASON = 5
REASONS_MAX = 50  # reasons come from a closed vocabulary; this bounds a mistake


@dataclass(slots=True, kw_only=True)
class Tally:
    """Counters of one running sync."""

    fetched: int = 0
    unchanged: int = 0
    new: int = 0
    changed: int = 0
    pruned: int = 0
    chunks_added: int = 0
    chunks_removed: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[str]] = field(default_factory=dict)

    @property
    def written(self) -> bool:
        return bool(self.new or self.changed or self.pruned)

    def skip(self, reason: str, url: str) -> None:
        if reason not in self.skipped and len(self.skipped) >= REASONS_MAX:
            reason = "other reasons"
        self.skipped[reason] += 1
        examples = self.examples.setdefault(reason, [])
        if len(examples) < EXAMPLES_PER_REASON:
            examples.append(url)


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteSummary:
    """The outcome of one site. `failure` None: it went well; else why, and what to do."""

    location: str
    failure: str | None = None
    complete: bool = False  # every reachable page was tried
    fetched: int = 0
    unchanged: int = 0
    new: int = 0
    changed: int = 0
    pruned: int = 0
    skipped: Mapping[str, int] = field(default_factory=dict)  # count by reason
    examples: Mapping[str, list[str]] = field(default_factory=dict)  # some addresses by reason
    chunks: int = 0  # of the whole site, afterwards
    chunks_added: int = 0
    chunks_removed: int = 0
    seconds: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The outcome of a whole run over its sites."""

    sites: tuple[SiteSummary, ...]
    embedded: int = 0  # vectors computed
    notes: tuple[str, ...] = ()  # degradations that are no failure
    seconds: float = 0.0

    @property
    def failed(self) -> bool:
        return any(site.failure for site in self.sites)

    def to_dict(self) -> dict[str, Any]:
        skipped: Counter[str] = Counter()
        for site in self.sites:
            skipped.update(site.skipped)
        counts = ("fetched", "unchanged", "new", "changed", "pruned", "chunks")
        return {
            "failed": self.failed,
            **{name: sum(getattr(site, name) for site in self.sites) for name in counts},
            "skipped": dict(skipped),
            "embedded": self.embedded,
            "seconds": round(self.seconds, 3),
            "notes": list(self.notes),
            "sites": [site.to_dict() for site in self.sites],
        }
