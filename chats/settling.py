"""Storing an answer's outcome, come what may.

Below: services (in threads). Above: writing. While the database is out, an outcome is tried a few
times; after that its journal row stays, and a sweep stores it later.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from uuid import UUID

from django.db import InterfaceError, OperationalError

from chats import services
from chats.events import Failure, FinishReason
from chats.generation.errors import InternalFailure
from chats.storing import Outcome
from fastrag_site.threads import in_thread

PAUSES = (0.1, 0.5, 2.0, 5.0)  # seconds between tries

logger = logging.getLogger(__name__)


async def settle_surely(message_id: UUID, outcome: Outcome) -> Outcome:
    """Store it, and return the outcome that counts. Never raises."""
    pauses = iter(PAUSES)
    while True:
        try:
            if await in_thread(services.settle, message_id=message_id, outcome=outcome):
                return outcome
        except (OperationalError, InterfaceError):
            pause = next(pauses, None)
            if pause is not None:
                await asyncio.sleep(pause)
                continue
            logger.exception("answer %s is not stored; a sweep will do it", message_id)
        except Exception:
            logger.exception("answer %s is not stored", message_id)
        else:
            # Deleted with its chat, or swept after a silence: it has been ended without us.
            return replace(outcome, finish_reason=FinishReason.INTERRUPTED, failure=None)
        failed = InternalFailure("The answer could not be stored.")
        failure = Failure(code=failed.code, message=failed.message)
        return replace(outcome, finish_reason=FinishReason.ERROR, failure=failure)
