"""The one question that RCP asks of an `Accept` header (RFC 9110, section 12.5.1). A leaf."""

from __future__ import annotations

EVENT_STREAM = "text/event-stream"


def wants_event_stream(accept: str) -> bool:
    """Whether the client names event streams, and likes JSON no better.

    Wild cards ask for nothing in particular, so they get JSON.
    """
    if EVENT_STREAM not in accept.lower():
        return False
    qualities = dict(_qualities(accept))
    stream = qualities.get(EVENT_STREAM, 0.0)
    return stream > 0.0 and stream >= qualities.get("application/json", 0.0)


def _qualities(accept: str) -> list[tuple[str, float]]:
    found = []
    for media_range in accept.split(","):
        name, *parameters = (part.strip() for part in media_range.split(";"))
        quality = 1.0
        for parameter in parameters:
            key, _, value = parameter.partition("=")
            if key.strip().lower() == "q":
                quality = _quality(value.strip())
        found.append((name.lower(), quality))
    return found


def _quality(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        return 0.0
    return value if 0.0 <= value <= 1.0 else 0.0
