"""`manage.py ask` and `manage.py sweep`, over indexed pages."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from chats.management.commands.ask import printable
from chats.models import Chat, Generation, Message
from tests.chats.corpus import index_pages
from tests.factories import ChatFactory, GenerationFactory, exchange

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def pages(tmp_path: Path) -> None:
    index_pages(tmp_path)


def ask(*arguments: str) -> tuple[str, str]:
    out, err = io.StringIO(), io.StringIO()
    call_command("ask", *arguments, stdout=out, stderr=err, no_color=True)
    return out.getvalue(), err.getvalue()


def test_ask_prints_sources_with_links_then_the_answer_then_how_it_ended(pages: None) -> None:
    out, err = ask("Who invented the lens of a lighthouse?")
    chat = Chat.objects.get()
    assert err == f"chat {chat.id}\n"
    sources, answer, end = out.split("\n\n")
    assert sources.splitlines()[0] == "[1] Lighthouses"
    assert "https://docs.example/lighthouses.html#:~:text=" in sources
    assert "Augustin Fresnel invented a lens of many thin rings. [1]" in answer
    assert end == "(stop)\n"
    assert Message.objects.get(role="assistant").content in out


def test_ask_goes_on_with_a_chat_of_anybody(pages: None) -> None:
    chat = ChatFactory()
    exchange(chat, 0)
    ask("What is a spring tide?", "--chat", str(chat.id))
    assert chat.messages.count() == 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["Why?", "--chat", "nonsense"], "There is no such chat."),
        (["Why?", "--chat", "00000000-0000-7000-8000-000000000000"], "There is no such chat."),
        ([" "], "Ask something."),
    ],
)
def test_ask_says_what_is_wrong(arguments: list[str], message: str) -> None:
    with pytest.raises(CommandError, match=message):
        ask(*arguments)


def test_what_a_page_says_cannot_command_the_terminal() -> None:
    assert printable("a\x1b[31mb\x9b\x07\nc") == "a[31mb\nc"


@pytest.mark.parametrize(("rows", "said"), [(0, "0 answers"), (1, "1 answer"), (2, "2 answers")])
def test_sweep_stores_what_dead_workers_left(rows: int, said: str) -> None:
    for _ in range(rows):
        GenerationFactory(opens_chat=True)
    out = io.StringIO()
    call_command("sweep", stdout=out)
    assert out.getvalue() == f"{said} stored as interrupted.\n"
    assert not Generation.objects.exists()
    assert Message.objects.filter(finish_reason="interrupted").count() == rows
