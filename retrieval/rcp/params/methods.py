"""Checks of every method but `retrieve`, and the table of them all.

Below: reader, retrieve. Above: dispatcher.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from retrieval.rcp.capabilities import Advertised
from retrieval.rcp.errors import CapabilityMissing, OptionUnsupported
from retrieval.rcp.messages import is_request_id
from retrieval.rcp.params import reader
from retrieval.rcp.params.reader import Check, refuse
from retrieval.rcp.params.retrieve import RERANKERS, TRANSFORMS, check_retrieve

Params: TypeAlias = Mapping[str, Any]
CheckParams = Callable[[Params, Advertised, list[str]], dict[str, Any]]


def _hit_id(value: Any, field: str) -> str | int | float:
    if not is_request_id(value):
        raise refuse(field, "must be a string or a number")
    return value


_TEXTS = reader.each(reader.content)
_DOCUMENT = reader.shape(
    {"id": reader.text, "text": reader.text, "meta": reader.mapping}, required=("text",)
)
_SIGNAL = reader.shape(
    {
        "hitId": _hit_id,
        "used": reader.boolean,
        "cited": reader.boolean,
        "helpful": reader.boolean,
        "reward": reader.between(-1.0, 1.0),
        "poisonSuspected": reader.boolean,
        "injectionSuspected": reader.boolean,
    },
    required=("hitId",),
)
_EMBED: dict[str, Check] = {
    "inputs": _TEXTS,
    "texts": _TEXTS,
    "kind": reader.one_of("query", "document"),
    "encoding": reader.one_of("json", "f32-base64"),
    "strict": reader.boolean,
}
_RERANK: dict[str, Check] = {
    "query": reader.content,
    "passages": _TEXTS,
    "documents": _TEXTS,
    "method": reader.one_of(*RERANKERS),
    "topN": reader.count,
    "strict": reader.boolean,
}


def _offered(
    read: dict[str, Any], option: str, offered: Any, default: Any, notes: list[str]
) -> None:
    """Refuse an option that is not advertised, or drop it where the caller is not strict."""
    if option not in read or read[option] == default or read[option] in (offered or ()):
        return
    message = f"{option} {read[option]!r} is not offered"
    if read.get("strict") is not False:
        raise OptionUnsupported(message, option=option)
    del read[option]
    notes.append(f"{option} ignored: {message}")


def _embed(params: Params, advertised: Advertised, notes: list[str]) -> dict[str, Any]:
    read = reader.shape(_EMBED)(params, "")
    legacy = read.pop("texts", None)
    read.setdefault("inputs", legacy)
    if read["inputs"] is None:
        raise refuse("inputs", "is missing")
    limit = advertised.get("embed", {}).get("batchLimit")
    if type(limit) is int and len(read["inputs"]) > limit:
        raise refuse("inputs", f"holds more than {limit} texts")
    _offered(read, "encoding", advertised.get("embed", {}).get("encodings"), "json", notes)
    return read


def _rerank(params: Params, advertised: Advertised, notes: list[str]) -> dict[str, Any]:
    read = reader.shape(_RERANK, required=("query",))(params, "")
    as_documents = read.pop("documents", None)
    read.setdefault("passages", as_documents)
    if read["passages"] is None:
        raise refuse("passages", "is missing")
    limit = advertised.get("rerank", {}).get("maxCandidates")
    if type(limit) is int and len(read["passages"]) > limit:
        raise refuse("passages", f"holds more than {limit} passages")
    _offered(read, "method", advertised.get("rerank", {}).get("methods"), None, notes)
    return read


def _index_add(params: Params, advertised: Advertised, notes: list[str]) -> dict[str, Any]:
    _writable(advertised)
    checks: dict[str, Check] = {"documents": reader.each(_DOCUMENT), "chunk": reader.boolean}
    read = reader.shape(checks, required=("documents",))(params, "")
    if read.get("chunk") and advertised.get("index", {}).get("chunking") is not True:
        raise OptionUnsupported("chunk is not offered", option="chunk")
    return read


def _index_delete(params: Params, advertised: Advertised, notes: list[str]) -> dict[str, Any]:
    _writable(advertised)
    return reader.shape({"ids": reader.each(reader.text)}, required=("ids",))(params, "")


def _writable(advertised: Advertised) -> None:
    if advertised.get("index", {}).get("writable") is False:
        raise CapabilityMissing("the index is read-only")


def _transform(params: Params, advertised: Advertised, notes: list[str]) -> dict[str, Any]:
    checks = {
        "query": reader.text,
        "method": reader.one_of(*TRANSFORMS),
        "n": reader.count,
    }
    read = reader.shape(checks, required=("query", "method"))(params, "")
    if read["method"] not in advertised.get("transform", {}).get("methods", ()):
        raise OptionUnsupported(f"method {read['method']!r} is not offered", option="method")
    return read


def _only(check: Callable[[Any, str], dict[str, Any]]) -> CheckParams:
    return lambda params, advertised, notes: check(params, "")


CHECKS: Mapping[str, CheckParams] = {
    "retrieve": check_retrieve,
    "rerank": _rerank,
    "embed": _embed,
    "embed/sparse": _embed,
    "embed/multi": _embed,
    "index/add": _index_add,
    "index/delete": _index_delete,
    "query/transform": _transform,
    "feedback": _only(
        reader.shape(
            {"sessionId": reader.text, "query": reader.text, "signals": reader.each(_SIGNAL)},
            required=("signals",),
        )
    ),
    "graph": _only(
        reader.shape(
            {
                "op": reader.one_of("local", "global", "drift", "communities", "neighbors"),
                "query": reader.text,
                "k": reader.count,
                "seedIds": reader.each(reader.text),
                "hops": reader.count,
            },
            required=("op",),
        )
    ),
    "memory/build": _only(
        reader.shape(
            {
                "documents": reader.each(_DOCUMENT),
                "memoryId": reader.text,
                "scope": reader.one_of("global", "session"),
            }
        )
    ),
    "memory/recall": _only(
        reader.shape(
            {
                "query": reader.text,
                "memoryId": reader.text,
                "sessionId": reader.text,
                "n": reader.count,
            },
            required=("query",),
        )
    ),
    "catalog/list": _only(reader.shape({})),
}
