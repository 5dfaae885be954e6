"""Titles through a real server and a scripted model."""

from __future__ import annotations

import threading
import time

from tests.chats.live_parts import Visitor, env
from tests.live import Server, ServerFactory, until
from tests.upstream import DONE, HEAD, STALL, Until, answer, finish, token, upstream


def titles(server: Server) -> list[str]:
    return [title for (title,) in server.sql("select title from chats_chat")]


def test_message_end_does_not_wait_for_the_title_that_follows(real_server: ServerFactory) -> None:
    may_name = threading.Event()
    naming = [HEAD, Until(may_name), token('"Why Things Are"'), finish(), DONE]
    with upstream(answer("Because."), naming) as model:
        server = real_server(env=env(chat_base_url=model.base_url, chat_model_name="m"))
        with Visitor(server).ask("Why?") as stream:
            assert stream.events()[-1].data["finish_reason"] == "stop"
        assert titles(server) == ["Why?"]
        model.wait_for_requests(2)
        asked = model.requests[1].json["messages"]
        assert "User: Why?\nAssistant: Because." in asked[-1]["content"]
        may_name.set()
        until(lambda: titles(server) == ["Why Things Are"], 5, "title")


def test_a_title_that_is_late_is_given_up_and_its_connection_closed(
    real_server: ServerFactory,
) -> None:
    with upstream(answer("Because."), [HEAD, STALL]) as model:
        conf = {"chat_base_url": model.base_url, "chat_model_name": "m", "model_title_seconds": 0.3}
        server = real_server(env=env(**conf))
        with Visitor(server).ask("Why?") as stream:
            stream.events()
        model.wait_for_requests(2)
        asked_at = time.monotonic()
        assert model.closed_after(asked_at) < 2
        assert titles(server) == ["Why?"]
        assert "Traceback" not in server.output()


def test_a_shutdown_does_not_wait_for_a_title(real_server: ServerFactory) -> None:
    with upstream(answer("Because."), [HEAD, STALL]) as model:
        server = real_server(env=env(chat_base_url=model.base_url, chat_model_name="m"))
        with Visitor(server).ask("Why?") as stream:
            stream.events()
        model.wait_for_requests(2)
        began = time.monotonic()
        server.terminate()
        assert time.monotonic() - began < 5
        assert "Traceback" not in server.output() and titles(server) == ["Why?"]
