"""Retrieval Context Protocol 1: an SDK to expose and to call retrieval engines.

Imports nothing of this project outside itself and no web framework. `from retrieval import rcp`.
"""

from __future__ import annotations

from retrieval.rcp import filters
from retrieval.rcp.calls import current_call
from retrieval.rcp.capabilities import PROTOCOL_VERSION, Capability
from retrieval.rcp.client import AsyncClient, Client
from retrieval.rcp.codes import Errc
from retrieval.rcp.errors import (
    BackendUnavailable,
    Cancelled,
    CapabilityMissing,
    Conflict,
    ConnectionLost,
    InternalError,
    InvalidParams,
    InvalidRequest,
    NotFound,
    NotInitialized,
    OptionUnsupported,
    ParseError,
    PayloadTooLarge,
    RateLimited,
    RcpError,
    Timeout,
    Unauthorized,
    UnknownMethod,
    VersionMismatch,
)
from retrieval.rcp.fusion import convex_fuse, rrf_fuse, weighted_fuse
from retrieval.rcp.limits import Limits
from retrieval.rcp.peers import Caller
from retrieval.rcp.progress import Progress
from retrieval.rcp.server import Server
from retrieval.rcp.vectors import decode_vector, decode_vectors, encode_vector, encode_vectors

connect_stdio = Client.connect_stdio
connect_http = Client.connect_http

__all__ = [
    "PROTOCOL_VERSION",
    "AsyncClient",
    "BackendUnavailable",
    "Caller",
    "Cancelled",
    "Capability",
    "CapabilityMissing",
    "Client",
    "Conflict",
    "ConnectionLost",
    "Errc",
    "InternalError",
    "InvalidParams",
    "InvalidRequest",
    "Limits",
    "NotFound",
    "NotInitialized",
    "OptionUnsupported",
    "ParseError",
    "PayloadTooLarge",
    "Progress",
    "RateLimited",
    "RcpError",
    "Server",
    "Timeout",
    "Unauthorized",
    "UnknownMethod",
    "VersionMismatch",
    "connect_http",
    "connect_stdio",
    "convex_fuse",
    "current_call",
    "decode_vector",
    "decode_vectors",
    "encode_vector",
    "encode_vectors",
    "filters",
    "rrf_fuse",
    "weighted_fuse",
]
