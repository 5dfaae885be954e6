"""One server of each kind for all tests here, and a fresh one for tests that kill it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.real_models import servers
from tests.real_models.servers import ModelServer


@pytest.fixture(scope="session")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModelServer]:
    with servers.llama_cpp(tmp_path_factory.mktemp("llama")) as server:
        yield server


@pytest.fixture
def mortal_llama(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModelServer]:
    with servers.llama_cpp(tmp_path_factory.mktemp("llama")) as server:
        yield server


@pytest.fixture(scope="session")
def proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModelServer]:
    with servers.litellm(tmp_path_factory.mktemp("litellm")) as server:
        yield server
