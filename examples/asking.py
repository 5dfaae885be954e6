"""Asks a running server, and prints sources, then the answer as it comes, then how it finished.

    python examples/asking.py "How do I index a site?" "And how often?"

Each further question is a follow-up in the same chat. Needs httpx and nothing else; copy it.
"""

from __future__ import annotations

import argparse
import codecs
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

import httpx

# The server sends a keep-alive every 15 seconds: a longer silence means that it is gone.
TIMEOUT = httpx.Timeout(10.0, read=60.0)
KNOWN_EVENTS = ("message_start", "sources", "delta", "message_end")
LINE_END = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True)
class ServerSentEvent:
    name: str
    data: str


@dataclass
class EventStreamDecoder:
    """Bytes in, events out, however the bytes are cut. Follows the HTML standard, section 9.2.6.

    Lines end with CR, LF or CRLF and nothing else: `str.splitlines()` would also split at
    U+2028 and others, which may stand inside the data.
    """

    _utf8: codecs.IncrementalDecoder = field(
        default_factory=lambda: codecs.getincrementaldecoder("utf-8-sig")("replace")
    )
    _line: list[str] = field(default_factory=list)  # pieces of the unfinished line
    _after_cr: bool = False
    _name: str = ""
    _data: list[str] = field(default_factory=list)

    def feed(self, chunk: bytes) -> list[ServerSentEvent]:
        """The events that this chunk completes."""
        events: list[ServerSentEvent] = []
        text = self._utf8.decode(chunk)
        if not text:
            return events
        if self._after_cr:
            text = text.removeprefix("\n")  # the second half of a CRLF
        start = 0
        for end in LINE_END.finditer(text):
            self._line.append(text[start : end.start()])
            start = end.end()
            event = self._take("".join(self._line))
            self._line.clear()
            if event is not None:
                events.append(event)
        self._line.append(text[start:])
        self._after_cr = text.endswith("\r")
        return events

    def _take(self, line: str) -> ServerSentEvent | None:
        """One whole line; a blank one completes an event, unless it has no data."""
        if not line:
            event = ServerSentEvent(self._name or "message", "\n".join(self._data))
            complete = bool(self._data)
            self._name = ""
            self._data = []
            return event if complete else None
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "event":
            self._name = value
        elif name == "data":
            self._data.append(value)
        return None  # comments (empty name), id, retry and unknown fields say nothing to us


def ask(client: httpx.Client, question: str, chat_id: str | None) -> Iterator[ServerSentEvent]:
    """Post one question; yield the events. Raises httpx.HTTPStatusError if refused."""
    path = f"/api/chats/{chat_id}/messages" if chat_id else "/api/chats"
    headers = {"Accept": "text/event-stream"}
    if token := client.cookies.get("csrftoken"):
        headers["X-CSRFToken"] = token
    with client.stream("POST", path, json={"content": question}, headers=headers) as response:
        if response.is_error:
            response.read()
            response.raise_for_status()
        decoder = EventStreamDecoder()
        for chunk in response.iter_bytes():
            yield from decoder.feed(chunk)


def show(events: Iterator[ServerSentEvent], out: Any = sys.stdout) -> tuple[str | None, str]:
    """Print an answer as it comes. Returns the chat's id and the finish reason."""
    chat_id, finish_reason = None, "interrupted"  # until message_end says otherwise
    for event in events:
        if event.name not in KNOWN_EVENTS:
            continue  # events of later versions
        data = json.loads(event.data)
        match event.name:
            case "message_start":
                chat_id = data["chat_id"]
            case "sources":
                for source in data["sources"]:
                    numbers = "".join(f"[{n}]" for n in source["positions"])
                    print(f"{numbers} {source['title']}\n    {link(source)}", file=out)
                print(file=out, flush=True)
            case "delta" if data["delta"]["type"] == "text":
                print(data["delta"]["text"], end="", file=out, flush=True)
            case "message_end":
                finish_reason = data["finish_reason"]
                error = data.get("error")
                detail = f": {error['code']}, {error['message']}" if error else ""
                print(f"\n({finish_reason}{detail})", file=out, flush=True)
    return chat_id, finish_reason


def link(source: dict[str, Any]) -> str:
    """The page's url with a text fragment that scrolls to the passages and highlights them."""
    texts = [
        "text=" + ",".join(encode(term) for term in (part["start"], part["end"]) if term)
        for part in source["fragments"]
    ]
    if not texts:
        return str(source["url"])
    mark = ":~:" if "#" in source["url"] else "#:~:"
    return f"{source['url']}{mark}{'&'.join(texts)}"


def encode(term: str) -> str:
    return quote(term, safe="").replace("-", "%2D")


def refusal(response: httpx.Response) -> str:
    try:
        error = response.json()["error"]
        return f"{response.status_code} {error['code']}: {error['message']}"
    except (ValueError, LookupError, TypeError):
        return f"{response.status_code} {response.reason_phrase}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("question", nargs="+")
    parser.add_argument("--server", default="http://127.0.0.1:8000")
    parser.add_argument("--chat", help="id of a chat of yours to go on with")
    parser.add_argument("--api-key")
    options = parser.parse_args()
    headers = {"Authorization": f"Bearer {options.api_key}"} if options.api_key else {}
    chat_id: str | None = options.chat
    with httpx.Client(base_url=options.server, headers=headers, timeout=TIMEOUT) as client:
        for question in options.question:
            try:
                started, finish_reason = show(ask(client, question, chat_id))
            except httpx.HTTPStatusError as error:
                print(refusal(error.response), file=sys.stderr)
                return 1
            except httpx.HTTPError as error:
                print(f"The server is not reachable: {error}", file=sys.stderr)
                return 1
            chat_id = chat_id or started
            if finish_reason not in ("stop", "length"):
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
