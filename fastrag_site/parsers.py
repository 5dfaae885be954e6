"""The one request parser: strict JSON in UTF-8, within a size and a depth.

Below: conf, errors. Above: REST_FRAMEWORK in settings; `loads` for views without DRF.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import IO, Any

from rest_framework.parsers import BaseParser

from fastrag_site.conf import conf
from fastrag_site.errors import MalformedJson, PayloadTooLarge

MAX_DEPTH = 64
MAX_DIGITS = 20  # of an integer: more than 64 bits hold


class StrictJsonParser(BaseParser):
    media_type = "application/json"

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        most = conf().request_max_bytes
        body = stream.read(most + 1)
        if len(body) > most:
            raise PayloadTooLarge()
        return loads(body)


def loads(body: bytes) -> Any:
    """Raises MalformedJson for whatever is not JSON, and for what no honest client sends: NaN,
    numbers out of range, a name twice in one object, nesting deeper than MAX_DEPTH.
    """
    try:
        value = json.loads(
            body.decode("utf-8-sig"),
            parse_constant=_refuse,
            parse_float=_finite,
            parse_int=_bounded,
            object_pairs_hook=_unique,
        )
    except (ValueError, RecursionError) as error:
        raise MalformedJson() from error
    _check_depth(value)
    return value


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError("number out of range")
    return number


def _bounded(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise ValueError("integer out of range")
    return int(digits)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name occurs twice")
    return found


def _check_depth(value: Any) -> None:
    level, depth = [value], 0
    while level := [item for item in level if isinstance(item, dict | list)]:
        depth += 1
        if depth > MAX_DEPTH:
            raise MalformedJson(f"The request body is nested deeper than {MAX_DEPTH} levels.")
        level = [
            child for item in level for child in (item.values() if isinstance(item, dict) else item)
        ]
