"""What a search within the page finds in a form's fields. Pure; above: html.walker."""

from __future__ import annotations

from collections.abc import Iterator

from selectolax.lexbor import LexborNode

from retrieval.ingest.html.tags import named

# Elements that stand for something drawn, in which there is text nevertheless.
SHOWING = named("svg input select textarea")
_WITHOUT_TEXT = named("checkbox color file hidden image password radio range")


def field_texts(field: LexborNode) -> Iterator[str]:
    """The value, else what stands in its place. A list that drops down shows its options later."""
    attributes = field.attributes
    if field.tag == "input":
        if (attributes.get("type") or "").lower() not in _WITHOUT_TEXT:
            yield attributes.get("value") or attributes.get("placeholder") or ""
    elif field.tag == "textarea":
        yield field.text() or attributes.get("placeholder") or ""
    elif "multiple" in attributes or (attributes.get("size") or "1").strip() not in {"0", "1"}:
        for option in field.css("option"):
            yield option.text()
