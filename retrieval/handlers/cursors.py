"""Cursors: what was shown so far, packed and signed, so that no page of results repeats a hit.

Below: django.core.signing. Above: retrieve. A cursor holds all that is needed, so any worker can go
on with it, and a sync in between takes nothing away from it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

from django.core import signing

from retrieval import rcp

SALT = "rcp.cursor"
MAX_SHOWN = 1_000  # hits that one query can be paged through

# What does not change which hits there are, nor their order.
_ASIDE = frozenset(
    (
        *("cursor", "k", "sessionId", "seed", "strict", "_meta"),
        *("includeText", "includeVectors", "tokenBudget"),
    )
)


def cursor_make(params: Mapping[str, Any], shown: Iterable[int]) -> str | None:
    """None where a query was paged through for long enough."""
    ids = sorted(shown)
    if len(ids) >= MAX_SHOWN:
        return None
    gaps = [ids[0], *(after - before for before, after in pairwise(ids))]
    return signing.dumps([_asked(params), gaps], salt=SALT, compress=True)


def cursor_read(params: Mapping[str, Any]) -> frozenset[int]:
    """What was shown: ids of chunks or, with unit document, of pages. Raises InvalidParams."""
    if "cursor" not in params:
        return frozenset()
    try:
        asked, gaps = signing.loads(params["cursor"], salt=SALT)
    except signing.BadSignature:
        raise rcp.InvalidParams("not a cursor of this server", field="cursor") from None
    if asked != _asked(params):
        raise rcp.InvalidParams("a cursor goes on with its own query alone", field="cursor")
    shown, last = [], 0
    for gap in gaps:
        last += gap
        shown.append(last)
    return frozenset(shown)


def _asked(params: Mapping[str, Any]) -> str:
    telling = {name: item for name, item in params.items() if name not in _ASIDE}
    text = json.dumps(telling, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
