"""What can go wrong with a request.

ClientError
├── Refused           the server answered with an error, before any event
└── ConnectionLost    no answer, silence, or a stream that ended before `message_end`
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

RefusalCode = Literal[
    "CHAT_BUSY",
    "CHAT_FULL",
    "CHAT_LIMIT",
    "CHAT_NOT_FOUND",
    "CSRF_FAILED",
    "IDEMPOTENCY_CONFLICT",
    "INTERNAL_ERROR",
    "MALFORMED_JSON",
    "MESSAGE_NOT_FOUND",
    "METHOD_NOT_ALLOWED",
    "NOT_AUTHENTICATED",
    "NOT_FOUND",
    "NOT_RUNNING",
    "PAYLOAD_TOO_LARGE",
    "PERMISSION_DENIED",
    "RATE_LIMITED",
    "SERVICE_UNAVAILABLE",
    "TOO_MANY_GENERATIONS",
    "UNSUPPORTED_MEDIA_TYPE",
    "VALIDATION_ERROR",
    "UNKNOWN",  # what answered is no Fastrag site
]


class ClientError(Exception):
    """Base of both."""


class Refused(ClientError):
    """`retry_after`: seconds, where the server said so. `request_id` names the request in its log.
    `fields` come with VALIDATION_ERROR, `details` with CHAT_BUSY to a repeat of its request.
    """

    def __init__(
        self,
        status: int,
        code: RefusalCode,
        message: str,
        *,
        retry_after: int | None = None,
        request_id: str | None = None,
        fields: Mapping[str, Sequence[str]] | None = None,
        details: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(f"{status} {code}: {message}")
        self.status = status
        self.code = code
        self.message = message
        self.retry_after = retry_after
        self.request_id = request_id
        self.fields = fields or {}
        self.details = details or {}


class ConnectionLost(ClientError):
    """The question may have arrived. Before asking it again, look at the chat, or repeat it with
    its idempotency key.
    """
