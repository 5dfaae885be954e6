"""What of documents' `meta` can be filtered on: single values and lists of them, by name.

Below: models. Above: documents. The first document with a name fixes its type; when a later one
brings another type, the name's type widens to one that is true of all.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import isfinite
from typing import Any

from retrieval.models import Document, MetaField, MetaValue

MAX_NAMES = 200  # in the whole index
MAX_VALUES = 100  # of one document
MAX_NAME_CHARS = 100
MAX_TEXT_CHARS = 500

Kind = MetaField.Kind

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}([.,]\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?")
_NAME = re.compile(r"[^\s\x00-\x1f.]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    name: str
    kind: str
    text: str
    number: float | None = None
    moment: datetime | None = None


def values_of(meta: Mapping[str, Any]) -> list[Value]:
    """What can be filtered on; nested objects, nulls and long texts cannot."""
    found: list[Value] = []
    for name, item in meta.items():
        if len(name) > MAX_NAME_CHARS or not _NAME.fullmatch(name):
            continue
        for one in item if isinstance(item, list) else [item]:
            value = _value(name, one)
            if value is not None and value not in found:
                found.append(value)
    return found[:MAX_VALUES]


def _value(name: str, item: Any) -> Value | None:
    if isinstance(item, str):
        if len(item) > MAX_TEXT_CHARS or "\0" in item:
            return None
        moment = _moment(item)
        kind = Kind.KEYWORD if moment is None else Kind.DATE
        return Value(name=name, kind=kind, text=item, moment=moment)
    if isinstance(item, bool):
        return Value(name=name, kind=Kind.BOOL, text=json.dumps(item), number=float(item))
    if isinstance(item, int | float) and isfinite(item):
        kind = Kind.INT if isinstance(item, int) else Kind.FLOAT
        return Value(name=name, kind=kind, text=json.dumps(item), number=float(item))
    return None


def _moment(text: str) -> datetime | None:
    if not _DATE.fullmatch(text):
        return None
    try:
        moment = datetime.fromisoformat(text)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def values_store(documents: Sequence[Document]) -> None:
    """Write the documents' values anew, inside the caller's transaction."""
    MetaValue.objects.filter(document__in=documents).delete()
    rows = [(document, value) for document in documents for value in values_of(document.meta)]
    known = dict(MetaField.objects.values_list("name", "kind"))
    fresh = dict(_widened(known, [value for _, value in rows]))
    MetaField.objects.bulk_create(
        [MetaField(name=name, kind=kind) for name, kind in fresh.items()],
        update_conflicts=True,
        unique_fields=["name"],
        update_fields=["kind"],
    )
    named = known.keys() | fresh.keys()
    MetaValue.objects.bulk_create(
        [
            MetaValue(
                document=document,
                name=value.name,
                text=value.text,
                number=value.number,
                moment=value.moment,
            )
            for document, value in rows
            if value.name in named
        ],
        batch_size=500,
    )


def _widened(known: Mapping[str, str], values: Sequence[Value]) -> Iterator[tuple[str, str]]:
    """The names whose type is new or changes, as far as there is room for new names."""
    kinds: dict[str, str] = {}
    for value in values:
        before = kinds.get(value.name, known.get(value.name))
        if before is None and len(known.keys() | kinds.keys()) >= MAX_NAMES:
            continue
        kinds[value.name] = value.kind if before is None else wider(before, value.kind)
    yield from ((name, kind) for name, kind in kinds.items() if known.get(name) != kind)


def wider(one: str, other: str) -> str:
    """The type that is true of values of both types."""
    if one == other:
        return one
    return Kind.FLOAT if {one, other} == {Kind.INT, Kind.FLOAT} else Kind.KEYWORD
