"""The real weights, as `make setup` installs them."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

from retrieval.embedding import weights
from retrieval.embedding.errors import EmbedderUnavailable
from retrieval.embedding.minilm import MiniLMEmbedder
from retrieval.embedding.weights import packaged_folder, verified_folder

TEXTS = (
    "How do I create a virtual environment?",
    "The venv module supports creating lightweight virtual environments.",
    "A cat sat on the mat.",
)


@pytest.fixture(scope="module")
def model() -> Iterator[MiniLMEmbedder]:
    yield MiniLMEmbedder()


def test_vectors_are_of_unit_length_and_stated_dimension(model: MiniLMEmbedder) -> None:
    vectors = model.embed_passages(TEXTS)
    assert vectors.shape == (3, model.dimension) == (3, 384)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1.0] * 3, abs=1e-5)


def test_what_means_the_same_is_near(model: MiniLMEmbedder) -> None:
    question = model.embed_query(TEXTS[0])
    near, far = model.embed_passages(TEXTS[1:]) @ question
    assert near > 0.6 > 0.2 > far


def test_the_vectors_are_those_of_the_published_model(model: MiniLMEmbedder) -> None:
    """Cosines that the reference implementation computes, within what 8 bits cost."""
    first, second, _ = model.embed_passages(
        ["That is a happy person", "That is a happy dog", "That is a very happy person"]
    )
    third = model.embed_query("Today is a sunny day")
    assert float(first @ second) == pytest.approx(0.695, abs=0.03)
    assert float(first @ third) == pytest.approx(0.257, abs=0.03)


def test_a_text_has_one_vector_whatever_is_computed_beside_it(model: MiniLMEmbedder) -> None:
    alone = [model.embed_query(text) for text in TEXTS]
    with ThreadPoolExecutor(4) as threads:
        beside = list(threads.map(model.embed_query, TEXTS * 5))
    assert np.array_equal(model.embed_passages(TEXTS), np.stack(alone))
    assert np.array_equal(np.stack(beside), np.stack(alone * 5))


@pytest.mark.parametrize("text", ["", " ", "\0", "\ud800", "🎉", "词" * 2_000, "a" * 100_000])
def test_any_text_has_a_vector(model: MiniLMEmbedder, text: str) -> None:
    assert np.isfinite(model.embed_query(text)).all()


def test_no_passages_have_no_vectors(model: MiniLMEmbedder) -> None:
    assert model.embed_passages([]).shape == (0, 384)


def test_it_counts_for_english_alone(model: MiniLMEmbedder) -> None:
    assert [model.weight(language) for language in ("en", "zh", "es", "")] == [1.0, 0.0, 0.0, 0.0]


def test_the_package_is_used_for_its_files_and_never_imported() -> None:
    code = (
        "import sys; from retrieval.embedding.minilm import MiniLMEmbedder;"
        f"MiniLMEmbedder().identity; assert {weights.PACKAGE!r} not in sys.modules"
    )
    root = Path(__file__).parents[3]
    subprocess.run([sys.executable, "-c", code], cwd=root, check=True, timeout=60)


# Weights that are not there, or not the right ones


def test_without_the_package_the_message_says_how_to_get_it() -> None:
    with mock.patch.object(weights, "PACKAGE", "no_such_package"):
        assert packaged_folder() is None
        with pytest.raises(EmbedderUnavailable, match=r"requirements-model\.txt"):
            MiniLMEmbedder().embed_query("x")


def test_weights_that_were_tampered_with_are_refused(tmp_path: Path) -> None:
    for name in weights.CHECKSUMS:
        (tmp_path / name).write_bytes(b"something else")
    with (
        mock.patch.object(weights, "packaged_folder", lambda: tmp_path),
        pytest.raises(EmbedderUnavailable, match="not the published file"),
    ):
        verified_folder()


def test_any_local_folder_can_be_named(model: MiniLMEmbedder, tmp_path: Path) -> None:
    source = packaged_folder()
    assert source is not None
    for name in ("config.json", "vocab.txt", "tokenizer_config.json"):
        shutil.copy(source / name, tmp_path / name)
    (tmp_path / "model.safetensors").symlink_to(source / "model.safetensors")
    local = MiniLMEmbedder(path=tmp_path, languages=["en", "de"], query_prefix="query: ")
    assert local.weight("de") == 1.0
    assert local.identity.startswith(f"{tmp_path.name}/53aa5117")
    assert np.array_equal(local.embed_passages(TEXTS[:1]), model.embed_passages(TEXTS[:1]))
    assert not np.array_equal(local.embed_query(TEXTS[0]), model.embed_query(TEXTS[0]))


def test_another_recipe_has_another_identity(model: MiniLMEmbedder) -> None:
    assert MiniLMEmbedder(max_tokens=128).identity != model.identity


@pytest.mark.parametrize("config", [None, {}, {"hidden_size": 384}])
def test_a_folder_without_a_model_is_unavailable(
    tmp_path: Path, config: dict[str, int] | None
) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"nothing")
    if config is not None:
        (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(EmbedderUnavailable, match="no BERT encoder"):
        MiniLMEmbedder(path=tmp_path).embed_query("x")
