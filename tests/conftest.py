"""Fixtures for every folder of tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.core.cache import cache

from fastrag_site import shutdown
from tests.live import migrated_var_dir, real_server
from tests.postgres import postgres_url

__all__ = ["migrated_var_dir", "postgres_url", "real_server"]


@pytest.fixture(autouse=True)
def nothing_left_behind() -> Iterator[None]:
    """Rate limits and the draining signal live in the process, not in the database."""
    yield
    cache.clear()
    shutdown.reset()
