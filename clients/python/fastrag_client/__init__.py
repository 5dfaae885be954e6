"""Asks a Fastrag site: cited answers, streamed as typed events. Needs httpx and nothing else.

with Client("http://127.0.0.1:8000") as client:
    for event in client.ask("How do I index a site?"):
        match event:
            case Sources(sources=sources): …
            case Delta(text=text): print(text, end="")
            case MessageEnd(finish_reason="error", error=Failure(code=code)): …
"""

from fastrag_client.client import Client
from fastrag_client.client_async import AsyncClient
from fastrag_client.decoder import EventStreamDecoder, ServerSentEvent
from fastrag_client.errors import ClientError, ConnectionLost, Refused
from fastrag_client.events import (
    Delta,
    Event,
    Failure,
    Fragment,
    MessageEnd,
    MessageStart,
    Source,
    Sources,
)

__all__ = [
    "AsyncClient",
    "Client",
    "ClientError",
    "ConnectionLost",
    "Delta",
    "Event",
    "EventStreamDecoder",
    "Failure",
    "Fragment",
    "MessageEnd",
    "MessageStart",
    "Refused",
    "ServerSentEvent",
    "Source",
    "Sources",
]
