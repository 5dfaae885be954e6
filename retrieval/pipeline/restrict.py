"""Filter trees → the ids of the chunks that may be found. Only parameterised queries.

Trees arrive validated against FIELDS (retrieval.rcp.filters). Below: models. Above: run.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import reduce
from operator import and_, or_
from typing import Any

import numpy as np
from django.db.models import Q

from retrieval.index.base import ChunkIds
from retrieval.models import Chunk

FIELDS: Mapping[str, str] = {  # name → type, as advertised
    "url": "keyword",
    "title": "text",
    "site": "keyword",
    "site_name": "keyword",
    "media_type": "keyword",
    "language": "keyword",
    "anchor": "keyword",
    "text": "text",
    "word_count": "int",
    "fetched_at": "date",
    "changed_at": "date",
}
_PATHS: Mapping[str, str] = {
    "site": "page__site__location",
    "anchor": "anchor",
    "text": "text",
    "word_count": "word_count",
}
_LOOKUPS = {"eq": "exact", "ne": "exact", "nin": "in", "contains": "icontains"}


def allowed_chunks(tree: Mapping[str, Any]) -> ChunkIds:
    rows = Chunk.objects.filter(condition(tree)).order_by("pk").values_list("pk", flat=True)
    return np.fromiter(rows.iterator(), dtype=np.int64)


def condition(tree: Mapping[str, Any]) -> Q:
    if "and" in tree:
        return reduce(and_, map(condition, tree["and"]))
    if "or" in tree:
        return reduce(or_, map(condition, tree["or"]))
    if "not" in tree:
        return ~condition(tree["not"])
    return _leaf(tree["field"], tree["op"], tree.get("value"))


def _leaf(field: str, op: str, value: Any) -> Q:
    path = _PATHS.get(field, f"page__{field}")
    if op == "exists":
        present = Q((f"{path}__isnull", False))
        if FIELDS[field] in {"keyword", "text"}:
            present &= ~Q((path, ""))
        return present if value is not False else ~present
    if FIELDS[field] == "date":
        value = [_moment(one) for one in value] if isinstance(value, list) else _moment(value)
    matches = Q((f"{path}__{_LOOKUPS.get(op, op)}", value))
    return ~matches if op in {"ne", "nin"} else matches


def _moment(value: str) -> datetime:
    moment = datetime.fromisoformat(value)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
