"""Filter trees of `retrieve`: building them, and checking them against what is advertised.

Below: errors. Above: params (checks what arrives), handlers and clients (build). Build with
`eq("lang", "en") & ~exists("draft")`; the clauses are plain dicts, ready for the wire.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from math import isfinite
from typing import Any, Final, TypeAlias

from retrieval.rcp.errors import InvalidParams, OptionUnsupported

OPERATORS: Final = ("eq", "ne", "gt", "gte", "lt", "lte", "in", "nin", "contains", "exists")
TYPES: Final = ("keyword", "text", "int", "float", "bool", "date")
MAX_DEPTH: Final = 16
MAX_CLAUSES: Final = 256
MAX_VALUES: Final = 1_000  # of one `in` or `nin`

Fields: TypeAlias = Mapping[str, str] | Collection[str]  # name → type, or names of any type


class Clause(dict[str, Any]):
    """A filter tree that combines with `&`, `|` and `~`."""

    def __and__(self, other: Mapping[str, Any]) -> Clause:
        return and_(self, other)

    def __or__(self, other: Mapping[str, Any]) -> Clause:  # type: ignore[override]
        return or_(self, other)

    def __invert__(self) -> Clause:
        return not_(self)


def and_(*clauses: Mapping[str, Any]) -> Clause:
    return Clause({"and": list(clauses)})


def or_(*clauses: Mapping[str, Any]) -> Clause:
    return Clause({"or": list(clauses)})


def not_(clause: Mapping[str, Any]) -> Clause:
    return Clause({"not": clause})


def where(field: str, op: str, value: Any) -> Clause:
    return Clause({"field": field, "op": op, "value": value})


def eq(field: str, value: Any) -> Clause:
    return where(field, "eq", value)


def ne(field: str, value: Any) -> Clause:
    return where(field, "ne", value)


def gt(field: str, value: Any) -> Clause:
    return where(field, "gt", value)


def gte(field: str, value: Any) -> Clause:
    return where(field, "gte", value)


def lt(field: str, value: Any) -> Clause:
    return where(field, "lt", value)


def lte(field: str, value: Any) -> Clause:
    return where(field, "lte", value)


def in_(field: str, values: Sequence[Any]) -> Clause:
    return where(field, "in", list(values))


def nin(field: str, values: Sequence[Any]) -> Clause:
    return where(field, "nin", list(values))


def contains(field: str, value: Any) -> Clause:
    return where(field, "contains", value)


def exists(field: str, value: bool = True) -> Clause:
    return where(field, "exists", value)


def validate(
    tree: Any,
    *,
    fields: Fields | None,
    operators: Collection[str] | None = None,
    path: str = "filter",
) -> None:
    """Check a tree against the advertised fields and operators (None: all ten).

    Raises InvalidParams with the path of the fault, OptionUnsupported for an operator that is a
    word of the protocol but not offered.
    """
    budget = [MAX_CLAUSES]
    offered = OPERATORS if operators is None else operators
    _validate(tree, fields or {}, offered, path, 1, budget)


def _validate(
    tree: Any, fields: Fields, operators: Collection[str], path: str, depth: int, budget: list[int]
) -> None:
    budget[0] -= 1
    if depth > MAX_DEPTH or budget[0] < 0:
        raise _refuse(path, f"more than {MAX_DEPTH} levels or {MAX_CLAUSES} clauses")
    if not isinstance(tree, Mapping):
        raise _refuse(path, "must be an object")
    kinds = [kind for kind in ("and", "or", "not", "field") if kind in tree]
    if len(kinds) != 1:
        raise _refuse(path, "must hold one of and, or, not, field")
    match kinds[0]:
        case "field":
            _validate_leaf(tree, fields, operators, path)
        case "not":
            _validate(tree["not"], fields, operators, f"{path}.not", depth + 1, budget)
        case kind:
            members = tree[kind]
            if not isinstance(members, list) or not members:
                raise _refuse(f"{path}.{kind}", "must be an array with members")
            for position, member in enumerate(members):
                where_ = f"{path}.{kind}[{position}]"
                _validate(member, fields, operators, where_, depth + 1, budget)


def _validate_leaf(
    leaf: Mapping[str, Any], fields: Fields, operators: Collection[str], path: str
) -> None:
    field, op = leaf["field"], leaf.get("op")
    if not isinstance(field, str):
        raise _refuse(f"{path}.field", "must be a string")
    if field not in fields:
        raise InvalidParams(f"{field!r} is not a field to filter on", field=field)
    if not isinstance(op, str) or op not in OPERATORS:
        raise _refuse(f"{path}.op", f"must be one of {', '.join(OPERATORS)}")
    if op not in operators:
        raise OptionUnsupported(f"operator {op!r} is not offered", option=op)
    kind = fields[field] if isinstance(fields, Mapping) else ""
    if not _fits(kind, op, leaf.get("value")):
        raise InvalidParams(f"the value of {field!r} does not fit {kind or op}", field=field)


def _fits(kind: str, op: str, value: Any) -> bool:
    match op:
        case "exists":
            return value is None or isinstance(value, bool)
        case "in" | "nin":
            return (
                isinstance(value, list)
                and 0 < len(value) <= MAX_VALUES
                and all(_is_a(kind, item) for item in value)
            )
        case "contains":
            return kind in ("keyword", "text", "") and isinstance(value, str)
        case "gt" | "gte" | "lt" | "lte":
            return kind != "bool" and not isinstance(value, bool) and _is_a(kind, value)
    return _is_a(kind, value)


def _is_a(kind: str, value: Any) -> bool:
    match kind:
        case "keyword" | "text":
            return isinstance(value, str)
        case "int":
            return type(value) is int
        case "float":
            return type(value) in (int, float) and isfinite(value)
        case "bool":
            return isinstance(value, bool)
        case "date":
            return isinstance(value, str) and _is_date(value)
    return isinstance(value, str | bool | int | float)


def _is_date(value: str) -> bool:
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return False
    return True


def _refuse(path: str, message: str) -> InvalidParams:
    return InvalidParams(f"{path}: {message}", field=path)
