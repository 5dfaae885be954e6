"""Reads a .safetensors file as arrays over the mapped file. Below: numpy. Above: bert."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

MAX_HEADER = 100_000_000  # bytes, as the format says
_DTYPES = {"F32": "<f4", "F16": "<f2", "F64": "<f8", "I64": "<i8", "I32": "<i4"}


def load_tensors(path: Path) -> dict[str, NDArray[Any]]:
    """Every tensor by name; nothing is read before it is used. Raises ValueError for a bad file."""
    data = np.memmap(path, dtype=np.uint8, mode="r")
    size = int(np.frombuffer(data[:8], "<u8")[0])
    if size > min(MAX_HEADER, len(data)):
        raise ValueError(f"{path.name} is not a safetensors file")
    header: dict[str, Any] = json.loads(data[8 : 8 + size].tobytes())
    body = data[8 + size :]
    tensors: dict[str, NDArray[Any]] = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        if entry["dtype"] not in _DTYPES:
            raise ValueError(f"{path.name} holds numbers of type {entry['dtype']}")
        start, end = entry["data_offsets"]
        tensors[name] = body[start:end].view(_DTYPES[entry["dtype"]]).reshape(entry["shape"])
    return tensors
