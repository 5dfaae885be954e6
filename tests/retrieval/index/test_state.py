from __future__ import annotations

from unittest import mock

import pytest

from retrieval.index.state import index_bump, index_version

pytestmark = pytest.mark.django_db


def test_an_index_that_was_never_written_has_version_zero() -> None:
    assert index_version() == 0


def test_the_version_grows_with_every_write() -> None:
    versions = [index_bump() for _ in range(5)]
    assert versions == sorted(set(versions))
    assert index_version() == versions[-1]


def test_the_version_grows_also_where_the_clock_goes_back() -> None:
    before = index_bump()
    with mock.patch("retrieval.index.state.time.time_ns", lambda: 1_000):
        assert index_bump() == before + 1
