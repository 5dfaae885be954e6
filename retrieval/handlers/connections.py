"""Handlers run in the SDK's threads, which outlive them; database connections do not.

Below: fastrag_site.threads. Above: server wraps every handler.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator
from functools import wraps
from typing import Any, TypeAlias

from django.db import InterfaceError, OperationalError

from fastrag_site.threads import release_connections
from retrieval import rcp
from retrieval.embedding.errors import EmbedderUnavailable
from retrieval.reranking.errors import RerankerUnavailable

Params: TypeAlias = dict[str, Any]
Result: TypeAlias = dict[str, Any]
Steps: TypeAlias = Generator[rcp.Progress, None, Result]

logger = logging.getLogger(__name__)


def contained(handler: Callable[[Params], Steps]) -> Callable[[Params], Steps]:
    """The handler, with its connections given back and its backends' failures in RCP's words."""

    @wraps(handler)
    def run(params: Params) -> Steps:
        try:
            return (yield from handler(params))
        except (EmbedderUnavailable, RerankerUnavailable) as error:
            raise rcp.BackendUnavailable(str(error)) from error
        except (OperationalError, InterfaceError) as error:
            logger.warning("the database failed %s", rcp.current_call().method, exc_info=error)
            raise rcp.BackendUnavailable("The database is not reachable.") from error
        finally:
            release_connections()

    return run
