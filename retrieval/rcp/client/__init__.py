"""Clients of RCP servers: `Client` for threads, `AsyncClient` for event loops."""

from __future__ import annotations

from retrieval.rcp.client.aio import AsyncClient
from retrieval.rcp.client.blocking import Client

__all__ = ["AsyncClient", "Client"]
