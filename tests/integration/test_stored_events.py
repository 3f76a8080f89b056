"""Every event in events/ is a request that a function answers, exactly as it stands there but for the ids."""

from __future__ import annotations

import base64
import json
from typing import Any
from urllib.parse import parse_qs, urlencode

import pytest

from tests.support.clerk import desk
from tests.support.deployment import SHRED, Deployment
from tests.support.gateway import EVENTS, Link, stored_event

SESSION_ID = "k7mq2vdyxa4ntwb3hzr5cfej6p"
CALL_ID = "c3-0"
REPLAYED = {
    "start": ("start", 200, '"status": "paused"'),
    "message": ("start", 409, "calls-pending"),
    "resume": ("resume", 200, '"status": "completed"'),
    "approval-page": ("approvals", 200, "Your decision"),
    "approval-probe": ("approvals", 200, "Your decision"),
    "approval-decision": ("approvals", 200, "Approved by"),
    "session": ("sessions", 200, '"status": "paused"'),
    "session-events": ("sessions", 200, '"user_message"'),
    "sessions": ("sessions", 200, '"status": "paused"'),
    "approvals": ("sessions", 200, '"pending"'),
    "cancel": ("sessions", 200, '"status": "cancelled"'),
}
ELSEWHERE = {"announce", "webhook", "undelivered"}
"""In test_announce.py and test_webhook_function.py."""


def test_every_file_is_replayed() -> None:
    assert {path.stem for path in EVENTS.iterdir()} == {*REPLAYED, *ELSEWHERE, "sweep", "work"}


@pytest.mark.parametrize("name", REPLAYED)
def test_a_stored_request_is_answered(deployment: Deployment, name: str) -> None:
    link = deployment.paused(SHRED, "Done.")
    desk.script(SHRED, "Done.") if name == "start" else None
    function, status, said = REPLAYED[name]

    answer = deployment.send(function, meant_for(link, name, deployment.form(link)["digest"]))

    assert answer.status == status
    assert said in answer.text


def test_a_stored_batch_is_worked_off(deployment: Deployment) -> None:
    link = deployment.paused(SHRED, "Done.")
    deployment.post(link)

    assert deployment.work(meant_for(link, "work", "")["Records"][0]["body"]) == []

    assert deployment.session(link.session_id)["status"] == "completed"


def test_a_stored_round_of_the_sweeper_is_done(deployment: Deployment) -> None:
    link = deployment.paused(SHRED, "Done.")
    deployment.expire(link)  # and nobody has noticed yet
    deployment.change(link, due_at="2026-01-01T00:00:00.000000Z")
    assert deployment.sweep(stored_event("sweep")) == {"Expired": 1}
    deployment.deliver()

    assert deployment.status(link) == "expired"
    session = deployment.session(link.session_id)
    assert (session["status"], session["output"]) == ("completed", "Done.")
    assert deployment.sweep(stored_event("sweep")) == {}


def meant_for(link: Link, name: str, digest: str) -> Any:
    """Return a stored event with the ids of a session that is there."""
    text = json.dumps(stored_event(name)).replace(SESSION_ID, link.session_id).replace(CALL_ID, link.call_id)
    event = json.loads(text)
    if "queryStringParameters" in event and "t" in event["queryStringParameters"]:
        event["queryStringParameters"]["t"] = link.token
    if event.get("isBase64Encoded"):
        form = parse_qs(base64.b64decode(event["body"]).decode("ascii"), keep_blank_values=True)
        form |= {"t": [link.token], "digest": [digest]}
        event["body"] = base64.b64encode(urlencode(form, doseq=True).encode()).decode()
    return event
