"""`feedback`: what callers say of hits, for the admin to show. Below: models. Above: server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from retrieval import rcp
from retrieval.handlers.callers import owner_of
from retrieval.handlers.connections import Params, Steps
from retrieval.models import Chunk, HitFeedback

MAX_SIGNALS = 100
HIT_CHARS = 300
SESSION_CHARS = 200
QUERY_CHARS = 8_000


def feedback(params: Params) -> Steps:
    signals = params["signals"]
    if len(signals) > MAX_SIGNALS:
        raise rcp.PayloadTooLarge(f"signals may have {MAX_SIGNALS} members", {"field": "signals"})
    for position, signal in enumerate(signals):
        if not 0 < len(str(signal["hitId"])) <= HIT_CHARS:
            field = f"signals[{position}].hitId"
            raise rcp.InvalidParams(f"must have 1 to {HIT_CHARS} characters", field=field)
    yield rcp.Progress(0.0, "feedback", f"{len(signals)} signals")
    return {"accepted": feedback_create(params, owner=owner_of(rcp.current_call().caller))}


def feedback_create(params: Mapping[str, Any], *, owner: str) -> int:
    """Store each signal; how many."""
    signals = params["signals"]
    chunks = _chunks([str(signal["hitId"]) for signal in signals])
    rows = [
        HitFeedback(
            hit=_stored(str(signal["hitId"])),
            chunk_id=chunks.get(str(signal["hitId"])),
            query=_stored(params.get("query", ""))[:QUERY_CHARS],
            session=_stored(params.get("sessionId", ""))[:SESSION_CHARS],
            owner=owner,
            used=signal.get("used"),
            cited=signal.get("cited"),
            helpful=signal.get("helpful"),
            reward=signal.get("reward"),
            poison_suspected=signal.get("poisonSuspected"),
            injection_suspected=signal.get("injectionSuspected"),
        )
        for signal in signals
    ]
    return len(HitFeedback.objects.bulk_create(rows, batch_size=200))


def _chunks(hit_ids: Sequence[str]) -> dict[str, int]:
    """The chunks that hits are about, as far as they are there still."""
    numbers = {int(id_) for id_ in hit_ids if id_.isascii() and id_.isdigit() and len(id_) < 19}
    return {str(pk): pk for pk in Chunk.objects.filter(pk__in=numbers).values_list("pk", flat=True)}


def _stored(text: str) -> str:
    return text.replace("\0", "")
