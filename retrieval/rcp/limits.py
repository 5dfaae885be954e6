"""Every bound of a server in one place. A leaf."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    message_bytes: int = 8_000_000  # a stdio line or an HTTP body
    batch: int = 100  # messages
    depth: int = 64  # of nested JSON
    concurrency: int = 32  # handlers that run at once
    backlog: int = 1_000  # requests that wait for one
    frames: int = 256  # progress frames that wait for a slow reader
    deadline_seconds: float = 60.0
    keepalive_seconds: float = 15.0  # longest silence on an SSE stream
    drain_seconds: float = 5.0  # from a stop signal to the end of open streams
