"""The frame encoder."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastrag_site import sse
from tests.sse_client import Comment, Decoder, Event

ANY_TEXT = st.text(alphabet=st.characters(exclude_categories=["Cs"]))


def test_an_event_is_exactly_two_lines_and_a_blank_one() -> None:
    frame = sse.encode({"message_id": "m", "delta": {"type": "text", "text": "Hé"}}, "delta")
    expected = 'event: delta\ndata: {"message_id":"m","delta":{"type":"text","text":"Hé"}}\n\n'
    assert frame == expected.encode()


def test_an_event_without_a_name_is_a_single_data_line() -> None:
    assert sse.encode({"jsonrpc": "2.0"}) == b'data: {"jsonrpc":"2.0"}\n\n'


@pytest.mark.parametrize("end", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\r", "\n", "\r\n"])
def test_what_some_parsers_take_for_a_line_end_stays_inside_one_event(end: str) -> None:
    frame = sse.encode({"text": f"a{end}b"}, "delta")
    assert frame.decode().splitlines() == frame.decode().split("\n")[:-1]
    assert list(Decoder().feed(frame)) == [Event("delta", frame.decode().split("data: ")[1][:-2])]
    assert json.loads(frame.decode().split("data: ")[1]) == {"text": f"a{end}b"}


@given(text=ANY_TEXT, size=st.integers(1, 7))
def test_any_text_survives_any_split_of_the_bytes(text: str, size: int) -> None:
    frame = sse.encode({"text": text}, "delta") + sse.comment(text) + sse.encode({"n": 1})
    decoder = Decoder()
    pieces = [frame[at : at + size] for at in range(0, len(frame), size)]
    events = [item for piece in pieces for item in decoder.feed(piece)]
    assert [item.data for item in events if isinstance(item, Event)] == [{"text": text}, {"n": 1}]


@given(text=st.text())
def test_a_template_gives_what_encoding_gives(text: str) -> None:
    def data(text: str) -> dict[str, Any]:
        return {"message_id": "m", "delta": {"type": "text", "text": text}}

    template = sse.Template(data(sse.Template.MARK), "delta")
    assert template.encode(text) == sse.encode(data(text), "delta")


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_a_number_that_json_does_not_have_is_refused(number: float) -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        sse.encode({"score": number})


@pytest.mark.parametrize("name", ["", "a\nb", "a\rb", "a\0b"])
def test_an_event_name_cannot_forge_a_line(name: str) -> None:
    with pytest.raises(ValueError, match="not an event name"):
        sse.encode({}, name)


@pytest.mark.parametrize(
    ("text", "arrives"),
    [("\ud83d", "\ufffd"), ("a\udc00b", "a\ufffdb"), ("\ud83d\ude00", "\U0001f600")],
)
def test_surrogates_become_their_character_or_the_replacement(text: str, arrives: str) -> None:
    data: Any = json.loads(sse.encode({"text": text}).decode().removeprefix("data: "))
    assert data == {"text": arrives}


@pytest.mark.parametrize("text", ["one\ntwo", "one\rtwo", "one\r\ntwo"])
def test_a_comment_of_several_lines_stays_a_comment(text: str) -> None:
    assert list(Decoder().feed(sse.comment(text))) == [Comment("one"), Comment("two")]


def test_the_keep_alive_is_a_comment() -> None:
    assert sse.comment("keep-alive") == sse.KEEP_ALIVE
