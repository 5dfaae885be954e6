from __future__ import annotations

from unittest import mock

import pytest

from retrieval.index.rows import pages_of
from tests.factories import ChunkFactory

pytestmark = pytest.mark.django_db


def test_chunks_that_exist_are_found_with_their_page() -> None:
    chunks = ChunkFactory.create_batch(5)
    with mock.patch("retrieval.index.rows.MOST_PARAMETERS", 2):
        found = pages_of([*(chunk.pk for chunk in chunks), 999_999])
    assert found == {chunk.pk: chunk.page_id for chunk in chunks}


def test_none_asked_for_is_none_found() -> None:
    assert pages_of([]) == {}
