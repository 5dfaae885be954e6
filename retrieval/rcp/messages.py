"""JSON-RPC 2.0 message shapes: reading requests, writing replies and notifications.

Below: errors, jsonio. Above: dispatcher, client. Everything written here is one encoded text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias, TypeGuard

from retrieval.rcp.errors import NotJsonRpc, RcpError
from retrieval.rcp.jsonio import dumps

RequestId: TypeAlias = int | float | str
NOTIFICATIONS = "notifications/"
PROGRESS = "notifications/progress"
CANCEL = "notifications/cancel"
LOG = "notifications/log"


class Message(NamedTuple):
    """A request, or a notification where `id` is None."""

    id: RequestId | None
    method: str
    params: dict[str, Any]


class Reply(NamedTuple):
    """One response, encoded; `error` is set when it is an error response."""

    id: RequestId | None
    text: bytes
    error: RcpError | None = None


def is_request_id(value: Any) -> TypeGuard[RequestId]:
    return type(value) in (int, str, float)


def read_message(message: Any) -> Message:
    """Check the shape of one decoded message. Raises NotJsonRpc."""
    if type(message) is not dict:
        raise NotJsonRpc("a message is an object")
    if message.get("jsonrpc") != "2.0":
        raise NotJsonRpc('"jsonrpc" must be "2.0"')
    method = message.get("method")
    if type(method) is not str or not method:
        raise NotJsonRpc('"method" must be a string')
    params = message.get("params")
    if params is None:
        params = {}
    if "id" not in message:
        return Message(None, method, params if type(params) is dict else {})
    id_ = message["id"]
    if type(id_) is not int and not is_request_id(id_):
        raise NotJsonRpc('"id" must be a string or a number')
    if type(params) is not dict:
        raise NotJsonRpc('"params" must be an object')
    return Message(id_, method, params)


def id_of(message: Any) -> RequestId | None:
    """The id to answer a malformed message under."""
    id_ = message.get("id") if type(message) is dict else None
    return id_ if is_request_id(id_) else None


def wants_no_answer(message: Any) -> bool:
    """Whether a decoded text holds notifications alone: not even an error may answer it."""
    members = message if type(message) is list and message else [message]
    try:
        return all(read_message(member).id is None for member in members)
    except NotJsonRpc:
        return False


def success(id_: RequestId, result: Mapping[str, Any]) -> Reply:
    """Raises TypeError or ValueError when the result has no JSON form."""
    return Reply(id_, dumps({"jsonrpc": "2.0", "id": id_, "result": result}))


def failure(id_: RequestId | None, error: RcpError) -> Reply:
    body = {"jsonrpc": "2.0", "id": id_, "error": error.to_wire()}
    return Reply(id_, dumps(body), error)


def notification(method: str, params: Mapping[str, Any]) -> bytes:
    return dumps({"jsonrpc": "2.0", "method": method, "params": params})


def request(id_: RequestId, method: str, params: Mapping[str, Any]) -> bytes:
    return dumps({"jsonrpc": "2.0", "id": id_, "method": method, "params": params})


def join_batch(replies: list[Reply]) -> bytes:
    return b"[%b]" % b",".join(reply.text for reply in replies)
