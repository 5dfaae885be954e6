from __future__ import annotations

import json
import math
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.rcp.errors import ParseError
from retrieval.rcp.jsonio import MAX_CONTAINERS, dumps, loads

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@settings(max_examples=40)
@given(json_values)
def test_what_is_written_is_read_back(value: Any) -> None:
    assert loads(dumps(value)) == value


@settings(max_examples=40)
@given(json_values)
def test_no_character_that_some_parser_takes_for_a_line_end_is_written_raw(value: Any) -> None:
    text = dumps(value).decode()
    assert not set(text) & set("\r\n\u2028\u2029\x85\x0b\x0c")


@settings(max_examples=40)
@given(json_values)
def test_reading_agrees_with_the_standard_library(value: Any) -> None:
    assert loads(json.dumps(value).encode()) == value


@pytest.mark.parametrize("number", [2**63, 2**64 - 1, -(2**63), 2**53 + 1, 10**18])
def test_integers_of_64_bits_keep_their_value(number: int) -> None:
    assert loads(str(number).encode()) == number


@pytest.mark.parametrize(
    "text",
    [
        "18446744073709551616",
        "-9223372036854775809",
        "1" * 5_000,
        "1e309",
        "-1e309",
        "1" * 400 + ".0",
    ],
)
def test_numbers_beyond_the_machine_are_refused(text: str) -> None:
    with pytest.raises(ParseError):
        loads(f'{{"a": {text}}}'.encode())


def test_long_digits_inside_strings_and_fractions_are_fine() -> None:
    text = '{"a": "' + "7" * 50 + '", "b": 0.' + "3" * 50 + "}"
    assert loads(text.encode()) == json.loads(text)


@pytest.mark.parametrize("depth", [64, 65])
def test_the_depth_limit_is_exact(depth: int) -> None:
    text = b"[" * depth + b"]" * depth
    if depth <= 64:
        assert loads(text)
    else:
        with pytest.raises(ParseError):
            loads(text)


def test_the_number_of_lists_and_objects_is_limited() -> None:
    assert loads(json.dumps([{}] * (MAX_CONTAINERS - 1)).encode())
    with pytest.raises(ParseError, match="lists and objects"):
        loads(json.dumps([{}] * MAX_CONTAINERS).encode())
    assert loads(json.dumps("[" * 3 * MAX_CONTAINERS).encode())


@pytest.mark.parametrize("beside", ["", '"n": 1234567890123456789, '])
def test_half_of_a_surrogate_pair_is_refused(beside: str) -> None:
    with pytest.raises(ParseError):
        loads(f'{{{beside}"a": "\\ud800"}}'.encode())


def test_wide_is_not_deep_and_strings_hold_brackets_and_escapes() -> None:
    value = [{"a": ["[{" * 50, '\\"[', '"]"']}] * 100
    assert loads(json.dumps(value).encode()) == value


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ({"score": math.nan, "x": math.nan, "y": 1}, {"score": 0.0, "y": 1}),
        ([1.0, math.inf], [1.0, 0.0]),
        ({"v": np.array([1.0, np.nan])}, {"v": [1.0, 0.0]}),
        (
            {"score": np.float32("inf"), "n": np.int64(3), "x": None},
            {"score": 0.0, "n": 3, "x": None},
        ),
        (MappingProxyType({"a": (1, 2)}), {"a": [1, 2]}),
        ({1: "one", None: 0}, {"1": "one", "null": 0}),
        (2**70, 2**70),
        ("\ud800", "\ufffd"),
        ({"\udc00": "a\ud800\u2028b"}, {"\ufffd": "a\ufffd\u2028b"}),
        ("\ud83c\udf89 \ud83c", "🎉 \ufffd"),
        ({"a": None}, {"a": None}),
    ],
)
def test_foreign_values_have_a_plain_form(value: Any, written: Any) -> None:
    assert json.loads(dumps(value)) == written


@pytest.mark.parametrize("value", [object(), {1, 2}, b"bytes", {"a": object()}])
def test_what_has_no_json_form_is_an_error(value: Any) -> None:
    with pytest.raises(TypeError):
        dumps(value)


def test_a_circle_is_an_error() -> None:
    circle: list[Any] = []
    circle.append(circle)
    with pytest.raises((ValueError, TypeError, RecursionError)):
        dumps(circle)
