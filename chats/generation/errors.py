"""What can end an answer with `finish_reason: "error"`, with its code in the stream.

GenerationFailed (of fastrag_site.errors.FastragError)
├── GenerationTimeout     TIMEOUT              no first token, a silent model, a bound passed
├── ContextTooLong        CONTEXT_TOO_LONG     even the question with the best passage does not fit
├── UpstreamUnavailable   SERVICE_UNAVAILABLE  model or index unreachable, or out of capacity
├── ModelError            MODEL_ERROR          the model answered with something unusable
└── InternalFailure       INTERNAL_ERROR       our fault

A chat model raises the first four; `chats.answering` alone maps everything to the wire.
"""

from __future__ import annotations

from django.utils.translation import gettext_noop as _

from fastrag_site.errors import FastragError


class GenerationFailed(FastragError):
    """Base. `message` is ours: no upstream text, key or URL ever enters it."""


class GenerationTimeout(GenerationFailed):
    code = "TIMEOUT"
    default_message = _("The answer took too long.")


class ContextTooLong(GenerationFailed):
    code = "CONTEXT_TOO_LONG"
    default_message = _("The question is too long for the model.")


class UpstreamUnavailable(GenerationFailed):
    code = "SERVICE_UNAVAILABLE"
    default_message = _("A part of the service is not reachable; try again shortly.")


class ModelError(GenerationFailed):
    code = "MODEL_ERROR"
    default_message = _("The model gave no usable answer.")


class InternalFailure(GenerationFailed):
    code = "INTERNAL_ERROR"
