"""Strict JSON: what is not JSON, or more than an honest client sends, is refused, never a crash."""

from __future__ import annotations

import contextlib
import io
import json
from typing import Any

import pytest
from django.test import Client, override_settings
from hypothesis import given
from hypothesis import strategies as st

from fastrag_site.errors import MalformedJson, PayloadTooLarge
from fastrag_site.parsers import StrictJsonParser, loads

MALFORMED = {
    "nothing": b"",
    "half": b'{"content": "a',
    "comma": b'{"content": "a",}',
    "two values": b"{} {}",
    "single quotes": b"{'content': 'a'}",
    "NaN": b'{"content": NaN}',
    "Infinity": b'{"content": -Infinity}',
    "float out of range": b'{"content": 1e400}',
    "absurd integer": b'{"content": ' + b"9" * 5000 + b"}",
    "integer of 21 digits": b'{"content": ' + b"1" * 21 + b"}",
    "a name twice": b'{"content": "a", "content": "b"}',
    "lone continuation byte": b'{"content": "\x80"}',
    "latin-1": '{"content": "é"}'.encode("latin-1"),
    "utf-16": '{"content": "é"}'.encode("utf-16"),
    "encoded surrogate": b'{"content": "\xed\xa0\x80"}',
    "control character": b'{"content": "a\x00b"}',
    "arrays 65 deep": b"[" * 65 + b"]" * 65,
    "objects 65 deep": b'{"a":' * 65 + b"1" + b"}" * 65,
    "20,000 brackets": b"[" * 20_000,
    "20,000 nested arrays": b"[" * 20_000 + b"]" * 20_000,
}


@pytest.mark.parametrize("body", MALFORMED.values(), ids=MALFORMED)
def test_it_is_malformed(body: bytes) -> None:
    with pytest.raises(MalformedJson):
        loads(body)


@pytest.mark.django_db
@pytest.mark.urls("tests.fastrag_site.probe.policy_urls")
@pytest.mark.parametrize("body", MALFORMED.values(), ids=MALFORMED)
def test_it_is_answered_with_400_and_nothing_else(client: Client, body: bytes) -> None:
    response = client.generic("POST", "/api/validate", body, content_type="application/json")
    assert response.status_code == 400
    # DRF takes an empty body for no body, which then fails the validation.
    code = "MALFORMED_JSON" if body else "VALIDATION_ERROR"
    assert response.json()["error"]["code"] == code


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (b'{"content": "a"}', {"content": "a"}),
        (b'\xef\xbb\xbf{"a": 1}', {"a": 1}),
        (b' \r\n[1, 2.5, -3e2, true, null, ""] ', [1, 2.5, -300.0, True, None, ""]),
        (b"[" * 64 + b"]" * 64, None),
        (b'{"a": 18446744073709551615}', {"a": 2**64 - 1}),
        ('{"a": "\\ud83d\\ude00 é"}'.encode(), {"a": "😀 é"}),
    ],
)
def test_what_is_json_is_read(body: bytes, value: Any) -> None:
    found = loads(body)
    assert value is None or found == value


@given(st.binary())
def test_no_bytes_raise_anything_else(body: bytes) -> None:
    with contextlib.suppress(MalformedJson):
        loads(body)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(10**18), 10**18) | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=20,
    )
)
def test_every_ordinary_value_comes_back(value: Any) -> None:
    assert loads(json.dumps(value).encode()) == value


def test_a_body_of_the_limit_is_read_and_one_byte_more_is_not() -> None:
    body = json.dumps("x" * 98).encode()
    with override_settings(FASTRAG={"REQUEST_MAX_BYTES": 100}):
        assert StrictJsonParser().parse(io.BytesIO(body)) == "x" * 98
        with pytest.raises(PayloadTooLarge):
            StrictJsonParser().parse(io.BytesIO(body + b" "))
