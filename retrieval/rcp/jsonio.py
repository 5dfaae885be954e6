"""Strict JSON in, compact JSON out. Below: orjson, errors. Above: dispatcher, transports, client.

Reading refuses what JSON has no word for (NaN, numbers beyond the machine's, bad UTF-8) and what
would hurt (deep nesting), always as ParseError. Writing never emits NaN or Infinity, half of a
surrogate pair, nor raw any character that some parsers take for a line end.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Mapping
from itertools import accumulate
from math import isfinite
from typing import Any, NoReturn

import orjson

from retrieval.rcp.errors import ParseError

logger = logging.getLogger("rcp")

MAX_DEPTH = 64
MAX_CONTAINERS = 100_000  # lists and objects: to make more holds up all else
INTEGERS = range(-(2**63), 2**64)
_BOM = b"\xef\xbb\xbf"
_ESCAPE = re.compile(rb"\\.", re.DOTALL)
_AS_ONE_KIND = bytes.maketrans(b"{}", b"[]")
_STEPS = {ord("["): 1, ord("]"): -1}
_NO_MARKS = bytes(set(range(256)) - set(b'[]{}"'))
_LONG_NUMBER = re.compile(rb"[0-9]\d{18}")  # starts with a set: searched far faster
_LINE_ENDS = {
    char.encode(): f"\\u{ord(char):04x}".encode() for char in ("\u2028", "\u2029", "\u0085")
}


def loads(raw: bytes, *, max_depth: int = MAX_DEPTH) -> Any:
    """Parse one JSON text. Raises ParseError alone."""
    if raw[:3] == _BOM:
        raw = raw[3:]
    if raw.count(b"[") + raw.count(b"{") > max_depth:
        _refuse_what_takes_long(raw, max_depth)
    try:
        value = orjson.loads(raw)
        # orjson reads an integer of more than 64 bits as a float.
        return _DECODER.decode(raw.decode()) if _LONG_NUMBER.search(raw) else value
    except (ValueError, RecursionError):
        raise ParseError("not valid JSON") from None


def dumps(value: Any) -> bytes:
    """Compact JSON in UTF-8. Raises TypeError or ValueError for what has no JSON form.

    A number that is not finite is a bug of the caller: it is left out where a name holds it and
    zero within a list or as a hit's score, and logged.
    """
    try:
        data = orjson.dumps(value, default=_plain)
    except TypeError:
        data = _dump_rarities(value)
    if b"null" in data and _has_non_finite(value):
        logger.warning("a number that is not finite was kept off the wire")
        data = orjson.dumps(_finite(value), default=_plain)
    if not data.isascii():
        for char, escape in _LINE_ENDS.items():
            data = data.replace(char, escape)
    return data


def _refuse_what_takes_long(raw: bytes, max_depth: int) -> None:
    """Without a loop of our own over the brackets, which would itself be one that takes long."""
    marks = (_ESCAPE.sub(b"", raw) if b"\\" in raw else raw).translate(_AS_ONE_KIND, _NO_MARKS)
    brackets = b"".join(marks.split(b'"')[::2])
    if len(brackets) > 2 * MAX_CONTAINERS:
        raise ParseError(f"more than {MAX_CONTAINERS} lists and objects")
    if max(accumulate(map(_STEPS.__getitem__, brackets)), default=0) > max_depth:
        raise ParseError(f"nested deeper than {max_depth} levels")


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _int(digits: str) -> int:
    if len(digits) > 20 or (number := int(digits)) not in INTEGERS:
        raise ValueError("integer out of range")
    return number


def _float(digits: str) -> float:
    number = float(digits)
    if not isfinite(number):
        raise ValueError("number out of range")
    return number


def _plain(value: Any) -> Any:
    """JSON form of foreign values: numpy scalars and arrays, read-only mappings."""
    if isinstance(value, Mapping):
        return dict(value)
    if callable(tolist := getattr(value, "tolist", None)):
        return tolist()
    raise TypeError(f"{type(value).__name__} has no JSON form")


def _dump_rarities(value: Any) -> bytes:
    """Integers of any size, keys that are not strings; half of a surrogate pair becomes U+FFFD."""
    text = _ENCODER.encode(_finite(value))
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def _has_non_finite(value: Any) -> bool:
    if isinstance(value, float):
        return not isfinite(value)
    if isinstance(value, Mapping):
        return any(map(_has_non_finite, value.values()))
    if isinstance(value, list | tuple):
        return any(map(_has_non_finite, value))
    return callable(getattr(value, "tolist", None)) and _has_non_finite(_plain(value))


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {
            name: _finite(0.0 if _is_bad(item) else item)
            for name, item in value.items()
            if name == "score" or not _is_bad(item)
        }
    if isinstance(value, list | tuple):
        return [0.0 if _is_bad(item) else _finite(item) for item in value]
    if callable(getattr(value, "tolist", None)):
        return _finite(_plain(value))
    return value


def _is_bad(value: Any) -> bool:
    """A single number that is not finite, numpy's included."""
    if callable(tolist := getattr(value, "tolist", None)):
        value = tolist()
    return isinstance(value, float) and not isfinite(value)


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant, parse_int=_int, parse_float=_float)
_ENCODER = json.JSONEncoder(
    separators=(",", ":"), allow_nan=False, ensure_ascii=False, default=_plain
)
