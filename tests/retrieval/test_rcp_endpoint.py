"""`POST /rcp`: who may, how much, and what HTTP says of it. Streams: test_rcp_live and contract."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import OperationalError
from django.test import Client, override_settings

from fastrag_site import shutdown
from fastrag_site.models import ApiKey
from retrieval.handlers.offer import Offer
from retrieval.models import Document
from tests.retrieval.rcp import schema

pytestmark = pytest.mark.django_db

LEXICAL: dict[str, Any] = {"EMBEDDER": None}
CLOSED = {**LEXICAL, "ALLOW_ANONYMOUS": False}
ADD = {"documents": [{"id": "crane", "text": "The crane lifts nine tonnes."}]}


@pytest.fixture(autouse=True)
def lexical() -> Any:
    with override_settings(FASTRAG=LEXICAL):
        yield


@pytest.fixture
def user() -> User:
    return User.objects.create(username="ada", password="!")


def key(user: User, **rights: Any) -> dict[str, str]:
    _, secret = ApiKey.objects.create(user=user, **rights)
    return {"Authorization": f"Bearer {secret}"}


def message(method: str = "info", params: Any = None, *, id_: Any = 1) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id_, "method": method, "params": params or {}}


def post(client: Client, body: Any, *, path: str = "/rcp", **options: Any) -> Any:
    content = body if isinstance(body, str | bytes) else json.dumps(body)
    response = client.post(path, content, content_type="application/json", **options)
    if response.content:
        assert response["Content-Type"].startswith("application/json")
        replies = response.json()
        for reply in replies if isinstance(replies, list) else [replies]:
            schema.check(reply)
    return response


def code_of(response: Any) -> int:
    return int(response.json()["error"]["code"])


# Who


def test_while_anonymous_use_is_allowed_anyone_may_read(client: Client) -> None:
    response = post(client, message())
    assert response.status_code == 200
    assert response.json()["result"]["server"]["name"] == "fastrag-site"
    assert not response.cookies


@override_settings(FASTRAG=CLOSED)
@pytest.mark.parametrize("method", ["info", "ping", "retrieve", "graph", "nonsense", "index/add"])
def test_else_nobody_without_credentials(client: Client, method: str) -> None:
    response = post(client, message(method, id_="mine"))
    assert response.status_code == 401
    assert response["WWW-Authenticate"] == "Bearer"
    assert code_of(response) == -32012
    assert response.json()["id"] == "mine"


@override_settings(FASTRAG=CLOSED)
@pytest.mark.parametrize("key", [{}, {"Authorization": "Bearer nonsense"}])
def test_a_notification_without_credentials_is_refused_by_the_status_alone(
    client: Client, key: dict[str, str]
) -> None:
    notice = {"jsonrpc": "2.0", "method": "notifications/cancel", "params": {"id": 1}}
    with override_settings(FASTRAG=CLOSED):
        for body in (notice, [notice, notice]):
            response = post(client, body, headers=key)
            assert (response.status_code, response.content) == (401, b"")
            assert "Content-Type" not in response
            assert "WWW-Authenticate" in response
        for body in ([notice, message()], {**notice, "jsonrpc": "1"}, []):
            assert post(client, body, headers=key).content


def test_a_key_opens(client: Client, user: User) -> None:
    assert post(client, message(), headers=key(user)).status_code == 200


@pytest.mark.parametrize("secret", ["Bearer nonsense", "Bearer ", "Bearer é"])
def test_a_wrong_key_is_never_taken_for_none(client: Client, secret: str) -> None:
    response = post(client, message(), headers={"Authorization": secret})
    assert (response.status_code, code_of(response)) == (401, -32012)


@pytest.mark.parametrize(
    ("method", "params"),
    [("index/add", ADD), ("index/add", {}), ("index/delete", {"ids": ["x"]}), ("index/delete", {})],
)
def test_writing_without_a_key_is_refused_before_anything_else(
    client: Client, method: str, params: Any
) -> None:
    response = post(client, message(method, params, id_=7))
    assert (response.status_code, code_of(response)) == (401, -32012)
    assert response.json()["id"] == 7
    assert not Document.objects.exists()


def test_writing_with_a_key_that_may_only_read_is_forbidden(client: Client, user: User) -> None:
    response = post(client, message("index/add", ADD), headers=key(user))
    assert (response.status_code, code_of(response)) == (403, -32012)
    assert not Document.objects.exists()


def test_a_session_is_no_right_to_write(client: Client, user: User) -> None:
    client.force_login(user)
    assert post(client, message()).status_code == 200
    response = post(client, message("index/add", ADD))
    assert (response.status_code, code_of(response)) == (403, -32012)


def test_a_signed_in_session_needs_its_csrf_token(user: User) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(user)
    response = post(strict, message())
    assert (response.status_code, code_of(response)) == (403, -32012)


def test_in_a_batch_each_request_is_refused_on_its_own(client: Client) -> None:
    response = post(client, [message("ping", id_=1), message("index/add", ADD, id_=2)])
    assert response.status_code == 200
    replies = {reply["id"]: reply for reply in response.json()}
    assert "result" in replies[1]
    assert replies[2]["error"]["code"] == -32012


# What


def test_the_path_may_name_the_method(client: Client) -> None:
    for path in ("/rcp/info", "/rcp/info/", "/rcp", "/rcp/"):
        assert "result" in post(client, message(), path=path).json()
    response = post(client, message("index/add", ADD), path="/rcp/index/add")
    assert code_of(response) == -32012


def test_but_not_another_one_than_the_body(client: Client) -> None:
    response = post(client, message(), path="/rcp/ping")
    assert (response.status_code, code_of(response)) == (200, -32600)


def test_a_notification_has_no_answer(client: Client) -> None:
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancel", "params": {"id": 1}}
    for body in (cancel, [cancel, cancel], {"jsonrpc": "2.0", "method": "notifications/x"}):
        response = post(client, body)
        assert (response.status_code, response.content) == (204, b"")


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ("garbage", 400, -32700),
        ("", 400, -32700),
        (b"\xff", 400, -32700),
        ('{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"x": NaN}}', 400, -32700),
        ("[" * 20_000, 400, -32700),
        ("[]", 400, -32600),
        ("{}", 400, -32600),
        ('{"jsonrpc": "2.0", "id": {}, "method": "ping"}', 400, -32600),
        (json.dumps([message("ping")] * 51), 413, -32013),
        (json.dumps(message("ping", {"pad": "x" * 1_000_000})), 413, -32013),
    ],
)
def test_what_is_no_request_is_refused(client: Client, body: Any, status: int, code: int) -> None:
    response = post(client, body)
    assert (response.status_code, code_of(response)) == (status, code)


@pytest.mark.parametrize("verb", ["get", "put", "delete", "options"])
def test_other_verbs_are_not_for_it(client: Client, verb: str) -> None:
    response = getattr(client, verb)("/rcp")
    assert response.status_code == 405
    assert response["Allow"] == "POST"
    assert code_of(response) == -32600


def test_any_content_type_will_do_for_json(client: Client) -> None:
    response = client.post("/rcp", json.dumps(message()), content_type="text/plain")
    assert response.status_code == 200


def test_initialize_hands_out_a_session_and_may_be_repeated(client: Client) -> None:
    first, second = (
        post(client, message("initialize", {"protocolVersion": 1})).json()["result"]
        for _ in range(2)
    )
    assert first["_meta"]["session"] != second["_meta"]["session"]
    assert first["_meta"]["conformance"] == "L2"


# How much


@override_settings(FASTRAG={**LEXICAL, "REQUESTS_PER_MINUTE": 3})
def test_above_the_rate_requests_have_to_wait(client: Client) -> None:
    assert [post(client, message()).status_code for _ in range(3)] == [200] * 3
    response = post(client, message(id_="late"))
    assert (response.status_code, code_of(response)) == (429, -32011)
    assert response.json()["id"] == "late"
    wait = int(response["Retry-After"])
    assert 1 <= wait <= 120
    assert response.json()["error"]["data"] == {"retryable": True, "retryAfterMs": wait * 1_000}


@override_settings(FASTRAG={**LEXICAL, "REQUESTS_PER_MINUTE": 3})
def test_the_members_of_a_batch_count_one_by_one(client: Client) -> None:
    replies = post(client, [message("ping", id_=number) for number in range(5)]).json()
    codes = [reply.get("error", {}).get("code") for reply in replies]
    assert codes == [None] * 3 + [-32011] * 2
    assert post(client, message()).status_code == 429


# When something is out


def test_a_process_that_is_about_to_end_takes_no_request(client: Client) -> None:
    shutdown.begin()
    response = post(client, message(id_=3))
    assert (response.status_code, code_of(response)) == (503, -32010)
    assert response["Retry-After"] == "5"
    assert response.json()["id"] == 3


def unreachable(*_: Any, **__: Any) -> Any:
    raise OperationalError("could not connect to db.internal, password=hunter2")


@pytest.mark.django_db(transaction=True)
def test_without_a_database_what_needs_none_is_answered(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("retrieval.handlers.offer.fields", unreachable)
    monkeypatch.setattr("retrieval.services.run", unreachable)
    assert post(client, message("ping")).status_code == 200
    assert "title" in post(client, message()).json()["result"]["capabilities"]["filter"]["fields"]
    response = post(client, message("retrieve", {"query": "crane", "k": 1}))
    assert (response.status_code, code_of(response)) == (503, -32010)
    assert "hunter2" not in response.content.decode()


def test_without_a_database_to_look_up_a_key_the_backend_is_unavailable(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = "fastrag_site.authentication.ApiKeyAuthentication.authenticate_credentials"
    monkeypatch.setattr(where, unreachable)
    response = post(client, message(id_=5), headers={"Authorization": "Bearer x"})
    assert (response.status_code, code_of(response)) == (503, -32010)
    assert response.json()["id"] == 5
    assert "hunter2" not in response.content.decode()


def test_a_bug_is_an_internal_error_without_its_words(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: Offer) -> None:
        raise RuntimeError("secret path /etc/passwd")

    monkeypatch.setattr(Offer, "renew", fail)
    response = post(client, message())
    assert (response.status_code, code_of(response)) == (500, -32603)
    assert "passwd" not in response.content.decode()
