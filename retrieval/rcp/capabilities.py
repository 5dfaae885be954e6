"""What an engine can do: the capabilities, and which one each method needs. A leaf."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum
from typing import Any

PROTOCOL_VERSION = 1
Advertised = Mapping[str, Mapping[str, Any]]  # wire key → metadata


class Capability(Enum):
    """`value` is the wire key; presence on the wire means support."""

    Retrieve = "retrieve"
    Rerank = "rerank"
    Embed = "embed"
    SparseEmbed = "sparseEmbed"
    MultiVector = "multiVector"
    Index = "index"
    Filter = "filter"
    Streaming = "streaming"
    Pagination = "pagination"
    Citations = "citations"
    Log = "log"
    Feedback = "feedback"
    Session = "session"
    Transform = "transform"
    Graph = "graph"
    Memory = "memory"
    Catalog = "catalog"


METHODS: Mapping[str, Capability] = {
    "retrieve": Capability.Retrieve,
    "rerank": Capability.Rerank,
    "embed": Capability.Embed,
    "embed/sparse": Capability.SparseEmbed,
    "embed/multi": Capability.MultiVector,
    "index/add": Capability.Index,
    "index/delete": Capability.Index,
    "feedback": Capability.Feedback,
    "query/transform": Capability.Transform,
    "graph": Capability.Graph,
    "memory/build": Capability.Memory,
    "memory/recall": Capability.Memory,
    "catalog/list": Capability.Catalog,
}
LIFECYCLE = frozenset({"initialize", "info", "ping", "shutdown"})

_VENDOR_METHOD = re.compile(r"x-[a-z0-9-]+/.+")


def is_vendor_method(method: str) -> bool:
    """`x-<vendor>/…`: an extension, callable wherever a handler is registered."""
    return _VENDOR_METHOD.fullmatch(method) is not None
