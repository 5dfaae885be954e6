"""The client for code without an event loop. Its twin: client_async. Below: exchange."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, Self

import httpx

from fastrag_client.errors import ConnectionLost
from fastrag_client.events import Event, MessageEnd
from fastrag_client.exchange import (
    MOST_OF_A_REFUSAL,
    TIMEOUT,
    AnswerReader,
    address,
    headers_of,
    is_stream,
    json_of,
    network_as_lost,
    path_of_again,
    path_of_chat,
    path_of_question,
    refusal_of,
)


class Client:
    """Sends each request once. `http` is closed with it."""

    def __init__(
        self, server: str, *, api_key: str | None = None, http: httpx.Client | None = None
    ) -> None:
        self._server = server
        self._api_key = api_key
        self._http = http or httpx.Client(timeout=TIMEOUT)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def ask(
        self, content: str, *, chat_id: str | None = None, idempotency_key: str | None = None
    ) -> Generator[Event, None, None]:
        """Ask in a new chat, or in `chat_id`. The last event is `MessageEnd`.

        Closing the generator interrupts the answer. Raises Refused, ConnectionLost.
        """
        return self._stream(path_of_question(chat_id), idempotency_key, {"content": content})

    def regenerate(
        self, chat_id: str, message_id: str, *, idempotency_key: str | None = None
    ) -> Generator[Event, None, None]:
        """Answer the same question again."""
        return self._stream(path_of_again(chat_id, message_id), idempotency_key)

    def stop(self, chat_id: str) -> str:
        """Stop the answer that is being written, whoever reads it. Returns its message's id.

        Refused with NOT_RUNNING.
        """
        stopping = self.call("POST", f"{path_of_chat(chat_id)}/stop")
        return str(stopping["message_id"])

    def call(self, method: str, path: str, *, json: Any = None, **params: str | int) -> Any:
        """Any other route, as `call("GET", "chats", search="x")`, and its JSON."""
        headers = headers_of(self._http.cookies, self._api_key)
        with network_as_lost():
            response = self._http.request(
                method, address(self._server, path), json=json, params=params, headers=headers
            )
        return json_of(response, response.content)

    def _stream(self, path: str, key: str | None, body: Any = None) -> Generator[Event, None, None]:
        headers = headers_of(self._http.cookies, self._api_key, key=key, stream=True)
        url = address(self._server, path)
        with (
            network_as_lost(),
            self._http.stream("POST", url, json=body, headers=headers) as response,
        ):
            if not is_stream(response):
                raise refusal_of(response, _start_of(response))
            reader = AnswerReader()
            for chunk in response.iter_bytes():
                for event in reader.feed(chunk):
                    yield event
                    if isinstance(event, MessageEnd):
                        return
        raise ConnectionLost("The stream ended before the answer did.")


def _start_of(response: httpx.Response) -> bytes:
    body = b""
    for chunk in response.iter_bytes():
        body += chunk
        if len(body) > MOST_OF_A_REFUSAL:
            break
    return body
