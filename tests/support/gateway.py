"""What API Gateway gives to a function, made from the stored events, and what it would send back."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qs, urlencode, urlsplit

from tests.support.aws import ROOT

DOMAIN: Final = "id.execute-api.us-east-1.amazonaws.com"
CALLER: Final = "arn:aws:iam::123456789012:user/ada"
FORM: Final = "application/x-www-form-urlencoded"
EVENTS: Final = ROOT / "events"


@dataclass(frozen=True)
class Answer:
    """What the gateway would send."""

    status: int
    headers: dict[str, str]
    text: str

    @property
    def json(self) -> Any:
        return json.loads(self.text)

    @property
    def problem(self) -> dict[str, Any]:
        """The body of an error of the API, checked for what RFC 9457 and we promise."""
        assert self.headers["Content-Type"] == "application/problem+json"
        problem: dict[str, Any] = self.json
        assert problem["status"] == self.status
        assert problem["type"].startswith("urn:pausepoint:problem:")
        assert problem["title"]
        assert re.fullmatch(r"[A-Z`].*\.", problem["detail"]), problem["detail"]
        return problem

    @property
    def page(self) -> str:
        """The body of a page."""
        assert self.headers["Content-Type"] == "text/html; charset=utf-8"
        assert self.text.startswith("<!doctype html>")
        return self.text

    @property
    def word(self) -> str:
        """The word that a page with very long arguments asks for (R26)."""
        (word,) = re.findall(r'Their word is <code class="word">(\w{4})</code>', self.page)
        return str(word)


@dataclass(frozen=True)
class Link:
    """The link in a published message."""

    session_id: str
    call_id: str
    token: str
    base: str

    @property
    def path(self) -> str:
        return f"/approvals/{self.session_id}/{self.call_id}"


class Context:
    """Lambda's context, as far as the functions use it."""

    function_name = "pausepoint"
    memory_limit_in_mb = 1024
    invoked_function_arn = "arn:aws:lambda:us-east-1:123456789012:function:pausepoint"
    aws_request_id = "52fdfc07-2182-154f-163f-5f0f9a621d72"

    def __init__(self, milliseconds: int = 29_000) -> None:
        self._milliseconds = milliseconds

    def get_remaining_time_in_millis(self) -> int:
        return self._milliseconds


def stored_event(name: str) -> dict[str, Any]:
    """Return one of the events that `sam local generate-event` made."""
    event: dict[str, Any] = json.loads((EVENTS / f"{name}.json").read_text(encoding="utf-8"))
    return event


def request(
    name: str,
    session_id: str | None = None,
    *,
    path: str | None = None,
    method: str | None = None,
    body: Any = None,
    query: Mapping[str, str] | None = None,
    headers: Mapping[str, str | None] | None = None,
    signed: bool = True,
    caller: str | None = None,
) -> dict[str, Any]:
    """Return a stored event with parts replaced.

    Args:
        session_id: put where the event has its own.
        body: text as it is; anything else is written as JSON.
        query: the whole query; None keeps the event's.
        headers: added to the event's; one of None is taken away.
        caller: the ARN of who signed it, in place of `CALLER`.
    """
    event = stored_event(name)
    http = event["requestContext"]["http"]
    if session_id is not None:
        path = event["rawPath"].replace(event["pathParameters"]["session_id"], session_id)
        event["pathParameters"]["session_id"] = session_id
    if path is not None:
        event["rawPath"] = http["path"] = path
    if method is not None:
        http["method"] = method
    if body is not None:
        event["body"] = body if isinstance(body, str) else json.dumps(body)
    if query is not None:
        event["queryStringParameters"] = dict(query)
        event["rawQueryString"] = urlencode(query)
    event["headers"] = {
        header: value for header, value in {**event["headers"], **(headers or {})}.items() if value is not None
    }
    if caller is not None:
        event["requestContext"]["authorizer"]["iam"]["userArn"] = caller
    if not signed:
        event["requestContext"].pop("authorizer", None)
    return event


def link_in(text: str) -> Link:
    """Return the one link in a message; it stands on a line of its own."""
    (line,) = re.findall(r"^https?://.*$", text, re.MULTILINE)
    url = urlsplit(line)
    _, approvals, session_id, call_id = url.path.rsplit("/", 3)
    assert approvals == "approvals"
    query = parse_qs(url.query, strict_parsing=True)
    assert list(query) == ["t"]
    (token,) = query["t"]
    return Link(session_id, call_id, token, line[: line.index("/approvals/")])
