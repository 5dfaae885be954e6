"""A BERT sentence encoder from a local folder in the sentence-transformers layout.

Below: safetensors, wordpiece, graph, onnxruntime. Above: minilm. One text a run, on one thread:
its vector never depends on what else is computed, and searches side by side share the cores.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import numpy as np
import onnxruntime

from retrieval.embedding.base import Vector
from retrieval.embedding.graph import Shape, build_graph
from retrieval.embedding.safetensors import load_tensors
from retrieval.embedding.wordpiece import WordPiece

DEFAULT_MAX_TOKENS = 256


class BertEncoder:
    """Raises OSError, ValueError or KeyError for a folder that does not hold such a model."""

    def __init__(self, folder: Path, *, max_tokens: int | None = None) -> None:
        config = _read_json(folder / "config.json")
        tensors = _named(load_tensors(folder / "model.safetensors"))
        self._words = tensors["embeddings.word_embeddings.weight"]
        positions = tensors["embeddings.position_embeddings.weight"]
        self._positions = positions + tensors["embeddings.token_type_embeddings.weight"][0]
        self._first_token = _pools_first_token(folder)
        limit = max_tokens or _optional(folder / "sentence_bert_config.json", "max_seq_length")
        self._tokens = WordPiece(
            (folder / "vocab.txt").read_text(encoding="utf-8").rstrip("\n").split("\n"),
            max_tokens=min(limit or DEFAULT_MAX_TOKENS, len(positions)),
            lower=_optional(folder / "tokenizer_config.json", "do_lower_case") is not False,
        )
        self.dimension = int(config["hidden_size"])
        shape = Shape(
            layers=config["num_hidden_layers"],
            heads=config["num_attention_heads"],
            hidden=self.dimension,
            epsilon=config["layer_norm_eps"],
        )
        self._session = _session(build_graph(tensors, shape))

    def encode(self, text: str) -> Vector:
        ids = self._tokens.encode(text)
        embedded = self._words[ids].astype(np.float32) + self._positions[: len(ids)]
        (encoded,) = self._session.run(["encoded"], {"embedded": embedded[np.newaxis]})
        pooled = encoded[0, 0] if self._first_token else encoded[0].mean(axis=0)
        return cast(Vector, pooled / max(float(np.linalg.norm(pooled)), 1e-12))


def _session(graph: bytes) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])


def _named(tensors: dict[str, Any]) -> dict[str, Any]:
    """Names without the prefix that some exports have."""
    return {name.removeprefix("bert."): tensor for name, tensor in tensors.items()}


def _pools_first_token(folder: Path) -> bool:
    return bool(_optional(folder / "1_Pooling" / "config.json", "pooling_mode_cls_token"))


def _read_json(path: Path) -> dict[str, Any]:
    return cast(dict[str, Any], json.loads(path.read_text(encoding="utf-8")))


def _optional(path: Path, key: str) -> Any:
    return _read_json(path).get(key) if path.exists() else None
