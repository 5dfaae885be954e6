"""Every error that a caller of the chat API can see, as one tree.

FastragError
├── RequestRefused          answered as JSON, before any stream starts
│   ├── MalformedJson, ValidationFailed (fields)          400
│   ├── NotAuthenticated 401, PermissionDenied, CsrfFailed 403
│   ├── NotFound ─ ChatNotFound, MessageNotFound          404
│   ├── MethodNotAllowed 405, PayloadTooLarge 413, UnsupportedMediaType 415
│   ├── Conflict ─ ChatBusy, ChatFull, ChatLimit, NotRunning, IdempotencyConflict   409
│   ├── RateLimited, TooManyGenerations (retry_after)     429
│   └── ServiceUnavailable (retry_after) 503, InternalError 500
└── GenerationFailed        inside a stream: `message_end` with `error`, see chats.generation.errors

Codes and statuses are API.md's ("Refused before message_start"). `fastrag_site.api_errors` alone
maps them to the wire. Messages are in English there; pages show them in the reader's language.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from django.utils.translation import gettext_noop as _


class FastragError(Exception):
    """Base of all. `code` is the wire code; `message` is ours and safe to show."""

    code: ClassVar[str] = "INTERNAL_ERROR"
    default_message: ClassVar[str] = _("Something went wrong on our side.")

    def __init__(self, message: str | None = None) -> None:
        self.message = message or self.default_message
        super().__init__(self.message)


class RequestRefused(FastragError):
    """A request that is answered with an HTTP status and the JSON error envelope."""

    status: ClassVar[int] = 500

    def __init__(
        self,
        message: str | None = None,
        *,
        fields: Mapping[str, Sequence[str]] | None = None,
        retry_after: int | None = None,
        details: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.fields = fields
        self.retry_after = retry_after
        self.details = details


class MalformedJson(RequestRefused):
    code, status = "MALFORMED_JSON", 400
    default_message = _("The request body is not valid JSON.")


class ValidationFailed(RequestRefused):
    code, status = "VALIDATION_ERROR", 400
    default_message = _("Some fields are not valid.")


class NotAuthenticated(RequestRefused):
    code, status = "NOT_AUTHENTICATED", 401
    default_message = _("Sign in or send an API key.")


class PermissionDenied(RequestRefused):
    code, status = "PERMISSION_DENIED", 403
    default_message = _("You may not do this.")


class CsrfFailed(RequestRefused):
    code, status = "CSRF_FAILED", 403
    default_message = _("The CSRF token is missing or wrong.")


class NotFound(RequestRefused):
    code, status = "NOT_FOUND", 404
    default_message = _("There is nothing at this address.")


class ChatNotFound(NotFound):
    code = "CHAT_NOT_FOUND"
    default_message = _("There is no such chat.")


class MessageNotFound(NotFound):
    code = "MESSAGE_NOT_FOUND"
    default_message = _("There is no such message in this chat.")


class MethodNotAllowed(RequestRefused):
    code, status = "METHOD_NOT_ALLOWED", 405
    default_message = _("This address does not take that method.")


class PayloadTooLarge(RequestRefused):
    code, status = "PAYLOAD_TOO_LARGE", 413
    default_message = _("The request body is too large.")


class UnsupportedMediaType(RequestRefused):
    code, status = "UNSUPPORTED_MEDIA_TYPE", 415
    default_message = _("Send JSON: Content-Type: application/json.")


class Conflict(RequestRefused):
    status = 409


class ChatBusy(Conflict):
    code = "CHAT_BUSY"
    default_message = _("An answer is still being written in this chat.")


class ChatFull(Conflict):
    code = "CHAT_FULL"
    default_message = _("This chat has reached its length; start a new one.")


class ChatLimit(Conflict):
    code = "CHAT_LIMIT"
    default_message = _("You have reached the number of chats; delete one first.")


class NotRunning(Conflict):
    code = "NOT_RUNNING"
    default_message = _("No answer is being written in this chat.")


class IdempotencyConflict(Conflict):
    code = "IDEMPOTENCY_CONFLICT"
    default_message = _("This Idempotency-Key was used with another request body.")


class RateLimited(RequestRefused):
    code, status = "RATE_LIMITED", 429
    default_message = _("Too many requests; wait a moment.")


class TooManyGenerations(RequestRefused):
    code, status = "TOO_MANY_GENERATIONS", 429
    default_message = _("Too many answers are being written for you at once.")


class ServiceUnavailable(RequestRefused):
    code, status = "SERVICE_UNAVAILABLE", 503
    default_message = _("The service is busy; try again shortly.")


class InternalError(RequestRefused):
    code, status = "INTERNAL_ERROR", 500
