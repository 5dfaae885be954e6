"""Filter trees → which chunks may be found. Only parameterised queries.

Trees arrive validated against `fields()` (retrieval.rcp.filters). A name is one of FIELDS, or one
that added documents have in their `meta`. Below: models. Above: run, recency, handlers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import reduce
from operator import and_, or_
from typing import Any

from django.db.models import Q

from retrieval.index.allowed import Allowed
from retrieval.models import Chunk, MetaField, MetaValue

FIELDS: Mapping[str, str] = {  # name → type, as advertised
    "url": "keyword",
    "title": "text",
    "site": "keyword",
    "siteName": "keyword",
    "mediaType": "keyword",
    "language": "keyword",
    "section": "keyword",  # any heading of the path
    "anchor": "keyword",
    "text": "text",
    "wordCount": "int",
    "fetchedAt": "date",
    "changedAt": "date",
}
OPERATORS = ("eq", "ne", "gt", "gte", "lt", "lte", "in", "nin", "contains", "exists")
PATHS: Mapping[str, str] = {
    "url": "page__url",
    "title": "page__title",
    "site": "page__site__location",
    "siteName": "page__site_name",
    "mediaType": "page__media_type",
    "language": "page__language",
    "anchor": "anchor",
    "text": "text",
    "wordCount": "word_count",
    "fetchedAt": "page__fetched_at",
    "changedAt": "page__changed_at",
}
SECTION_DEPTH = 8  # headings of a path that are looked at
TEXT_CHARS = 10_000  # of a value
VALUES = 2_000  # of a whole tree: each is a parameter of the query, some are several
_LOOKUPS = {"eq": "exact", "ne": "exact", "nin": "in", "contains": "icontains"}
_COLUMNS = {"int": "number", "float": "number", "bool": "number", "date": "moment"}


def fields() -> dict[str, str]:
    """Every name to filter on, with its type: those of all passages, those of added documents."""
    return {**dict(MetaField.objects.values_list("name", "kind")), **FIELDS}


def allowed_chunks(tree: Mapping[str, Any]) -> Allowed:
    return Allowed(Chunk.objects.filter(condition(tree)))


def count_values(tree: Mapping[str, Any]) -> int:
    if "field" in tree:
        value = tree.get("value")
        return len(value) if isinstance(value, list) else 1
    return sum(map(count_values, _branches(tree)))


def condition(tree: Mapping[str, Any]) -> Q:
    own = {name for name in _names(tree) if name not in FIELDS}
    kinds = dict(MetaField.objects.filter(name__in=own).values_list("name", "kind")) if own else {}
    return _condition(tree, kinds)


def _names(tree: Mapping[str, Any]) -> Iterator[str]:
    if "field" in tree:
        yield tree["field"]
    for branch in _branches(tree):
        yield from _names(branch)


def _branches(tree: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [tree["not"]] if "not" in tree else [*tree.get("and", ()), *tree.get("or", ())]


def _condition(tree: Mapping[str, Any], kinds: Mapping[str, str]) -> Q:
    if "and" in tree:
        return reduce(and_, (_condition(branch, kinds) for branch in tree["and"]))
    if "or" in tree:
        return reduce(or_, (_condition(branch, kinds) for branch in tree["or"]))
    if "not" in tree:
        return ~_condition(tree["not"], kinds)
    field, op, value = tree["field"], tree["op"], tree.get("value")
    negated = op in {"ne", "nin"} or (op == "exists" and value is False)
    matches = _matches(field, op, value, kinds)
    return ~matches if negated else matches


def _matches(field: str, op: str, value: Any, kinds: Mapping[str, str]) -> Q:
    """The passages that the operator without its negation is true of."""
    if _is_nowhere(value):
        return Q(pk__in=())
    kind = FIELDS.get(field) or kinds.get(field, "keyword")
    if kind == "date":
        value = [_moment(one) for one in value] if isinstance(value, list) else _moment(value)
    lookup = _LOOKUPS.get(op, op)
    if field == "section":
        return _section(op, lookup, value)
    if field == "url" and op != "exists":
        # Added documents have an address of their own.
        return Q((f"page__url__{lookup}", value)) | Q((f"page__document__url__{lookup}", value))
    if field not in FIELDS:
        return _own(field, _COLUMNS.get(kind, "text"), op, lookup, value)
    path = PATHS[field]
    if op == "exists":
        present = Q((f"{path}__isnull", False))
        return present & ~Q((path, "")) if kind in {"keyword", "text"} else present
    return Q((f"{path}__{lookup}", value))


def _section(op: str, lookup: str, value: Any) -> Q:
    if op == "exists":
        return ~Q(section=[])
    depths = (Q((f"section__{depth}__{lookup}", value)) for depth in range(SECTION_DEPTH))
    # As a subquery: of a path that is shorter, SQL says neither yes nor no, also when negated.
    return Q(pk__in=Chunk.objects.filter(reduce(or_, depths)).values("pk"))


def _own(name: str, column: str, op: str, lookup: str, value: Any) -> Q:
    """By the values of documents' `meta`; of several values, one that matches is enough."""
    values = MetaValue.objects.filter(name=name)
    if op != "exists":
        values = values.filter((f"{column}__{lookup}", value))
    return Q(page__in=values.values("document"))


def _is_nowhere(value: Any) -> bool:
    """No text that is stored has a NUL, and no field such a length; databases refuse both."""
    texts = [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, str)]
    return any("\0" in text or len(text) > TEXT_CHARS for text in texts)


def _moment(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    moment = datetime.fromisoformat(value)
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    try:
        return moment.astimezone(UTC)
    except OverflowError:  # at the very ends of time
        return moment.replace(tzinfo=UTC)
