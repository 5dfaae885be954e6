"""Whether the server can be asked, in words that name the setting to look at.

Below: clients. Above: model, and through it `/readyz`. No URL, key or word of the server is said.
A list of models proves little: not every server has one, some show it to everyone, and many answer
to names that are not on it. So until it has once answered, the server is asked for one token too.
"""

from __future__ import annotations

import asyncio
import logging
import re
import threading
import time
from collections.abc import Mapping

import httpx
import openai
from openai import AsyncOpenAI

from chats.generation.errors import UpstreamUnavailable
from chats.generation.openai_compatible.clients import make_client
from chats.generation.openai_compatible.failures import words_of
from chats.generation.openai_compatible.opening import key_headers
from chats.generation.openai_compatible.options import Options, named

PING_SECONDS = 4.0
FRESH_SECONDS = 10.0  # that an outcome is told again without asking
GREETING = {"role": "user", "content": "Hi"}
_UNKNOWN_MODEL = re.compile(
    r"model_not_found|\bmodel\b.{0,80}\b(?:not (?:found|exist|available|supported)|unknown|invalid)"
    r"|\b(?:invalid|unknown|unsupported|no such|not a valid|not exist)\b.{0,20}\bmodel\b",
    re.IGNORECASE | re.DOTALL,
)

logger = logging.getLogger(__name__)


class Readiness:
    def __init__(self, options: Options) -> None:
        self._options = options
        self._lock = threading.Lock()
        self._checked_at: float | None = None
        self._problem: str | None = None
        self._warned = False
        self._answered = False

    def check(self) -> None:
        """For threads. Raises UpstreamUnavailable. Asks the server every few seconds at most."""
        with self._lock:
            now = time.monotonic()
            if self._checked_at is None or now - self._checked_at > FRESH_SECONDS:
                self._problem = asyncio.run(self._find_problem())
                self._checked_at = time.monotonic()
        if self._problem is not None:
            raise UpstreamUnavailable(self._problem)

    async def ping(self) -> None:
        """Raises UpstreamUnavailable that says what is wrong."""
        if (problem := await self._find_problem()) is not None:
            raise UpstreamUnavailable(problem)

    async def _find_problem(self) -> str | None:
        until = asyncio.get_running_loop().time() + PING_SECONDS
        async with make_client(self._options) as client:
            try:
                async with asyncio.timeout_at(until):
                    response = await client.get(
                        "/models",
                        cast_to=httpx.Response,
                        options={"headers": key_headers(self._options)},
                    )
            except TimeoutError:
                return f"{named('base_url')}: no answer within {PING_SECONDS:.0f} seconds"
            except openai.APIStatusError as error:
                if problem := _problem_of_status(error.status_code):
                    return problem
            except openai.APIConnectionError as error:
                return f"{named('base_url')}: {_problem_of_connection(error.__cause__)}"
            else:
                self._look_for_model(response)
            return None if self._answered else await self._problem_of_answer(client, until)

    async def _problem_of_answer(self, client: AsyncOpenAI, until: float) -> str | None:
        """None too where the server has yet to load its model, or is busy."""
        body = {"model": self._options.model, "messages": [GREETING], "max_tokens": 1}
        try:
            async with asyncio.timeout_at(until):
                await client.post(
                    "/chat/completions",
                    cast_to=httpx.Response,
                    body={**body, **self._options.extra_body},
                    options={"headers": key_headers(self._options)},
                )
        except openai.APIStatusError as error:
            return _problem_of_refusal(error.status_code, words_of(error.body))
        except (TimeoutError, openai.APIConnectionError):
            return None
        self._answered = True
        return None

    def _look_for_model(self, response: httpx.Response) -> None:
        """Only a warning: many servers answer to names that they do not list."""
        try:
            listed = [model["id"] for model in response.json()["data"]]
        except (ValueError, LookupError, TypeError, RecursionError):
            return
        if listed and self._options.model not in listed and not self._warned:
            self._warned = True
            logger.warning("the server does not list a model named as in %s", named("model"))


def _problem_of_status(status: int) -> str | None:
    if status == 401:
        return f"{named('api_key')}: the server does not accept the key (HTTP 401)"
    if 300 <= status < 400:
        return f"{named('base_url')}: the server redirects (HTTP {status}); give the final address"
    if status >= 500:
        return f"{named('base_url')}: the server answers HTTP {status}"
    return None  # reachable; not every server lists models, nor to everyone


def _problem_of_refusal(status: int, words: str) -> str | None:
    """Of the request for a token. What another question may do away with is no problem."""
    if status == 403:
        return f"{named('api_key')}: the server does not let the key use the model (HTTP 403)"
    if status in {400, 404, 422} and _UNKNOWN_MODEL.search(words):
        return f"{named('model')}: the server does not know the model (HTTP {status})"
    if status in {404, 405}:
        where = "answers no chat completions there"
        return f"{named('base_url')}: the server {where} (HTTP {status}); is it …/v1?"
    return _problem_of_status(status)


def _problem_of_connection(cause: BaseException | None) -> str:
    if isinstance(cause, httpx.ConnectTimeout):
        return "no connection in time"
    text = str(cause).lower()
    for sign, words in _SIGNS.items():
        if sign in text:
            return words
    return "no connection"


_SIGNS: Mapping[str, str] = {
    "certificate": "the server's certificate is not trusted",
    "wrong_version_number": "the server does not speak TLS; is it http:// ?",
    "name or service not known": "its host name is unknown",
    "no address associated": "its host name is unknown",
    "name resolution": "its host name is unknown",
    "all connection attempts failed": "the connection is refused",
    "refused": "the connection is refused",
}
