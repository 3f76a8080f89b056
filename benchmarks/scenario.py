"""Pausepoint at the work: a pause; then, in another process, the link is opened, the form posted, and the session ends.

Run as a child process in the layer, by its composition root.
"""

from __future__ import annotations

import os
import re
import time
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from benchmarks.metering import Meter, item_bytes
from benchmarks.steps import do
from benchmarks.work import LAST, MESSAGE, calls, result_of
from pausepoint import Agent, Limits, cold_start, tool
from pausepoint.adapters import aws
from pausepoint.bootstrap import Application
from pausepoint.http.approvals import Post, decide, show
from pausepoint.models.scripted import ScriptedModel, Turn
from pausepoint.runtime.ports import ModelReply, ModelRequest
from pausepoint.settings import Settings


class _Script:
    """A `ChatModel` that answers with one turn after the other, and keeps nothing of what it was asked."""

    def __init__(self, turns: list[Turn]) -> None:
        self._turns = iter(turns)

    def settings(self) -> dict[str, Any]:
        return {"model_id": "scripted"}

    def respond(self, request: ModelRequest) -> ModelReply:
        return ScriptedModel([next(self._turns)]).respond(request)


def _agent(step: dict[str, Any], script: list[Turn]) -> Agent:
    @tool
    def read(number: int) -> str:
        """Read one of the files."""
        return result_of(number, step["kind"])

    @tool(requires_confirmation=True)
    def delete(path: str) -> str:
        """Delete a file. This cannot be undone."""
        return f"Deleted {path}."

    limits = Limits(model_calls=step["count"] + 10, tool_calls=step["count"] + 10)
    services = Application(Settings.from_environment(os.environ)).services
    return Agent(
        name="custodian",
        instructions="Keep the files in order.",
        model=_Script(script),
        tools=[read, delete],
        limits=limits,
        services=services,
    )


def pause(step: dict[str, Any], meter: Meter) -> dict[str, Any]:
    """Start a session and run it to its pause."""
    _count(step, meter)
    published: list[str] = []

    def keep(**event: Any) -> None:
        published.append(event["params"]["Message"])

    aws.session().register("provide-client-params.sns.Publish", keep)
    harmless: list[Turn] = [[call] for call in calls(step["count"])]
    begun = time.process_time()
    result = _agent(step, harmless).run(MESSAGE)
    cpu = time.process_time() - begun
    assert result.status == "paused", result
    link = re.search(r"http\S+", published[-1])
    assert link is not None
    return {**meter.report(), "cpu": cpu, "link": link.group()}


def finish(step: dict[str, Any], meter: Meter) -> dict[str, Any]:
    """Open the link, post the form, and carry the session on to its end."""
    _count(step, meter)
    parts = urlsplit(step["link"])
    session_id, call_id = parts.path.split("/")[-2:]
    token = parse_qs(parts.query)["t"][0]
    begun = time.process_time()
    agent = _agent(step, [LAST])
    page = show(agent.services, session_id, call_id, token=token, action=parts.path)
    shown, looked = time.process_time(), meter.report()
    meter.forget()
    digest = re.search(r'name="digest" value="(\w+)"', page.html)
    assert digest is not None, page
    body = urlencode({"t": token, "digest": digest.group(1), "decision": "approved"}).encode()
    form = Post(body, {"content-type": "application/x-www-form-urlencoded"}, f"{parts.scheme}://{parts.netloc}")
    answer = decide(agent.services, session_id, call_id, form)
    assert answer.decided == "approved", answer
    posted, clicked = time.process_time(), meter.report()
    result = agent.resume(session_id)
    ended = time.process_time()
    assert (result.status, result.output) == ("completed", LAST), result
    from_click = meter.report()
    rows = _rows(session_id)
    return {
        **from_click,
        "cpu": ended - begun,
        "look": {**looked, "cpu": shown - begun},
        "click": {**clicked, "cpu": posted - shown},
        "resume": {"cpu": ended - posted},
        "largest_item": max(map(item_bytes, rows)),
        "stored": sum(map(item_bytes, rows)),
    }


def _count(step: dict[str, Any], meter: Meter) -> None:
    if step["metered"]:
        meter.listen(aws.session())


def _rows(session_id: str) -> list[dict[str, Any]]:
    pages = (
        aws.session()
        .create_client("dynamodb")
        .get_paginator("query")
        .paginate(
            TableName=os.environ["TABLE_NAME"],
            KeyConditionExpression="pk = :pk",
            ExpressionAttributeValues={":pk": {"S": session_id}},
        )
    )
    return [dict(item) for page in pages for item in page["Items"]]


def main() -> None:
    """Do one step."""
    cold_start.over()  # as the functions say when they are imported
    do(pause, finish)


if __name__ == "__main__":
    main()
