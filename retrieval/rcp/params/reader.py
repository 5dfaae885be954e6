"""Typed reading of `params`: each check names the field that it refuses (-32602).

Below: errors. Above: the checks of each method. `where` is the path of the object that holds the
field, such as "fusion.", and "" at the top.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import Any, TypeVar

from retrieval.rcp.errors import InvalidParams

T = TypeVar("T")
Check = Callable[[Any, str], Any]  # (value, field) → the value to pass on; raises InvalidParams


def refuse(field: str, message: str) -> InvalidParams:
    return InvalidParams(f"{field}: {message}", field=field)


def text(value: Any, field: str) -> str:
    if type(value) is not str:
        raise refuse(field, "must be a string")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise refuse(field, "holds half of a surrogate pair") from None
    return value


def boolean(value: Any, field: str) -> bool:
    if type(value) is not bool:
        raise refuse(field, "must be true or false")
    return value


def integer(value: Any, field: str) -> int:
    if type(value) is not int:
        raise refuse(field, "must be an integer")
    return value


def count(value: Any, field: str) -> int:
    if type(value) is not int or value < 1:
        raise refuse(field, "must be an integer of at least 1")
    return value


def number(value: Any, field: str) -> float:
    if type(value) not in (int, float) or not isfinite(value):
        raise refuse(field, "must be a number")
    return value  # type: ignore[no-any-return]


def between(low: float, high: float) -> Check:
    def check(value: Any, field: str) -> float:
        if not low <= number(value, field) <= high:
            raise refuse(field, f"must lie in [{low:g}, {high:g}]")
        return value  # type: ignore[no-any-return]

    return check


def one_of(*names: str) -> Check:
    def check(value: Any, field: str) -> str:
        if type(value) is not str or value not in names:
            raise refuse(field, f"must be one of {', '.join(names)}")
        return value

    return check


def mapping(value: Any, field: str) -> dict[str, Any]:
    if type(value) is not dict:
        raise refuse(field, "must be an object")
    return value


def each(check: Callable[[Any, str], T]) -> Callable[[Any, str], list[T]]:
    def check_all(value: Any, field: str) -> list[T]:
        if type(value) is not list:
            raise refuse(field, "must be an array")
        return [check(item, f"{field}[{position}]") for position, item in enumerate(value)]

    return check_all


def content(value: Any, field: str) -> str:
    """A string, a text block or several text blocks, as one string."""
    if type(value) is str:
        return value if value.isascii() else text(value, field)
    if type(value) is list and value:
        return "\n".join(_block(item, f"{field}[{i}]") for i, item in enumerate(value))
    return _block(value, field)


def _block(value: Any, field: str) -> str:
    if type(value) is not dict:
        raise refuse(field, "must be a string or content blocks")
    if value.get("type") != "text":
        raise refuse(f"{field}.type", "only text is understood here")
    return text(value.get("text"), f"{field}.text")


def shape(
    checks: Mapping[str, Check], *, required: Sequence[str] = ()
) -> Callable[[Any, str], dict[str, Any]]:
    """A check of an object's known fields: null is absent, unknown fields pass untouched."""

    def check(value: Any, field: str) -> dict[str, Any]:
        where = f"{field}." if field else ""
        read = {}
        for name, item in mapping(value, field).items():
            if item is not None:
                check_item = checks.get(name)
                read[name] = item if check_item is None else check_item(item, where + name)
        for name in required:
            if name not in read:
                raise refuse(where + name, "is missing")
        return read

    return check
