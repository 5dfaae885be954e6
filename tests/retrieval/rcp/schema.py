"""Checks messages against the protocol's JSON Schema, where its file is at hand."""

from __future__ import annotations

import json
import os
from functools import lru_cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

_NAME = "rcp-1.0.schema.json"
_ROOT = Path(__file__).resolve().parents[3]
_PLACES = (
    Path(os.environ.get("RCP_SCHEMA", "")),
    _ROOT.parent / "shared" / "data" / _NAME,
    _ROOT / "tests" / "data" / _NAME,
)


@lru_cache(maxsize=1)
def _schema() -> dict[str, Any] | None:
    found = next((path for path in _PLACES if path.is_file()), None)
    return None if found is None else json.loads(found.read_text())


@lru_cache(maxsize=8)
def _validator(name: str) -> Draft202012Validator | None:
    schema = _schema()
    if schema is None:
        return None
    return Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": schema["$defs"]})


def available() -> bool:
    return _schema() is not None


def check(message: dict[str, Any], *, method: str | None = None) -> None:
    """Fail the test for a message of wrong shape; with `method`, of a wrong result too."""
    if "method" in message:
        shape = "JsonRpcNotification"
    elif "error" in message:
        shape = "JsonRpcError"
    else:
        shape = "JsonRpcSuccess"
    _check(shape, message)
    if shape == "JsonRpcSuccess" and method is not None:
        _check("ResultFor", {"method": method, "result": message["result"]})


def _check(name: str, value: Any) -> None:
    validator = _validator(name)
    if validator is not None:
        problems = [error.message for error in validator.iter_errors(value)]
        assert not problems, (name, value, problems)
