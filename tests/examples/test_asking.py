"""The example client: what it prints of an answer, and when it counts as failed."""

from __future__ import annotations

import io

from examples.asking import Printer
from fastrag_client import Delta, Failure, MessageEnd, MessageStart, Source, Sources

START = MessageStart(chat_id="c1", user_message_id="u", message_id="m")
SOURCE = Source(
    url="https://example.org/page",
    title="Page",
    site_name=None,
    favicon_url=None,
    positions=(1, 3),
    fragments=(),
)
ANSWER = (
    START,
    Sources(message_id="m", sources=(SOURCE,)),
    Delta(message_id="m", text="Hello "),
    Delta(message_id="m", text="you."),
    MessageEnd(message_id="m", finish_reason="stop"),
)


def printed(*events: object) -> tuple[Printer, str]:
    out = io.StringIO()
    printer = Printer(out=out)
    for event in events:
        printer.take(event)  # type: ignore[arg-type]
    return printer, out.getvalue()


def test_it_prints_sources_then_text_then_the_finish_reason() -> None:
    printer, text = printed(*ANSWER)
    assert text == "[1][3] Page\n    https://example.org/page\n\nHello you.\n(stop)\n"
    assert (printer.chat_id, printer.went_well) == ("c1", True)


def test_it_prints_the_error_of_a_failed_answer() -> None:
    failure = Failure(code="TIMEOUT", message="M")
    end = MessageEnd(message_id="m", finish_reason="error", error=failure)
    printer, text = printed(START, end)
    assert text == "\n(error: TIMEOUT, M)\n"
    assert not printer.went_well


def test_a_stream_that_breaks_off_counts_as_interrupted() -> None:
    printer, _ = printed(*ANSWER, *ANSWER[:3])
    assert printer.finish_reason == "interrupted"
