"""The main job, over HTTP: start, pause, mail, decide, carry on."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from pausepoint.adapters.dynamodb.bodies import Bodies
from pausepoint.adapters.dynamodb.store import DynamoDBStore
from pausepoint.domain.calls import Decision, Verdict
from pausepoint.domain.fields import moment_text
from pausepoint.runtime.decisions import BY_LINK
from pausepoint.runtime.system import new_id
from tests.e2e.stack import SETTLE_SECONDS, Stack, until

pytestmark = pytest.mark.e2e


def test_an_approved_call_runs_and_the_session_completes(stack: Stack, path: str) -> None:
    paused = stack.start_session(f"delete {path}")
    (call,) = paused["pending_calls"]
    assert (paused["status"], call["name"], call["arguments"]) == ("paused", "delete_file", {"path": path})
    assert path in stack.files()

    answer = stack.post_decision(stack.link(paused["session_id"], call["call_id"]), call["digest"], "approved")

    assert answer.status == 200
    stack.settled(paused["session_id"], "completed")
    assert path not in stack.files()
    (decision,) = stack.events(paused["session_id"], "decision")
    (execution,) = stack.events(paused["session_id"], "execution")
    assert decision["digest_shown"] == execution["digest_run"] == call["digest"]
    assert decision["verified"] == "link"


def test_a_rejected_call_does_not_run_and_the_model_reads_the_reason(stack: Stack, path: str) -> None:
    paused = stack.start_session(f"delete {path}")
    (call,) = paused["pending_calls"]
    link = stack.link(paused["session_id"], call["call_id"])

    assert stack.post_decision(link, call["digest"], "rejected", "Ask me on Monday.").status == 200

    done = stack.settled(paused["session_id"], "completed")
    assert "Ask me on Monday." in done["output"]
    assert path in stack.files()
    assert stack.events(paused["session_id"], "execution") == []
    assert "rejected" in stack.request("GET", link).text.lower()


def test_a_signed_in_caller_decides_through_the_api(stack: Stack, path: str) -> None:
    paused = stack.start_session(f"delete {path}")
    (call,) = paused["pending_calls"]
    body = f'{{"decisions": [{{"call_id": "{call["call_id"]}", "decision": "approved"}}]}}'

    answer = stack.request("POST", f"/sessions/{paused['session_id']}/resume", body=body)

    assert (answer.status, answer.json["status"]) == (200, "completed")
    assert path not in stack.files()


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_case_18_two_calls_of_a_turn_are_decided_in_either_order(
    stack: Stack, path: str, order: tuple[int, int]
) -> None:
    other = f"other-{path}"
    stack.put_file(other)
    paused = stack.start_session(f"delete {path} and {other}")
    calls = paused["pending_calls"]
    first, second = (calls[index] for index in order)

    link = stack.link(paused["session_id"], first["call_id"])
    assert stack.post_decision(link, first["digest"], "approved").status == 200
    _until_run(stack, paused["session_id"], 1)
    half = stack.settled(paused["session_id"], "paused")
    assert [call["call_id"] for call in half["pending_calls"]] == [second["call_id"]]
    assert stack.model_calls(path) == 1

    link = stack.link(paused["session_id"], second["call_id"])
    assert stack.post_decision(link, second["digest"], "approved").status == 200
    stack.settled(paused["session_id"], "completed")
    assert stack.model_calls(path) == 2
    assert {path, other}.isdisjoint(stack.files())
    results = stack.events(paused["session_id"], "tool_result")
    assert sorted(result["call_id"] for result in results) == [call["call_id"] for call in calls]


def test_moving_asks_only_when_something_would_be_replaced(stack: Stack, path: str) -> None:
    free, taken = f"free-{path}", f"taken-{path}"
    stack.put_file(taken)

    moved = stack.start_session(f"move {path} to {free}")
    assert moved["status"] == "completed"
    assert free in stack.files()

    paused = stack.start_session(f"move {free} to {taken}")
    assert [call["name"] for call in paused["pending_calls"]] == ["move_file"]
    assert {free, taken} <= stack.files()


def test_everything_may_be_stopped_between_any_two_steps(stack: Stack, path: str) -> None:
    """At once: a session just asked for, one that waits, one decided whose wake-up is lost, one about to be told."""
    others = [f"{step}-{path}" for step in ("approved", "rejected", "unsent")]
    for other in others:
        stack.put_file(other)
    waiting, approved, rejected, unsent = (stack.start_session(f"delete {name}") for name in (path, *others))
    asked = stack.request("POST", "/sessions", body=json.dumps({"message": f"read {path}"}), prefer="respond-async")
    assert (asked.status, asked.json["status"]) == (202, "running")
    link = _link_of(stack, waiting)
    _decide_and_die(stack, approved, "approved")
    _decide_and_die(stack, rejected, "rejected")
    first = _link_of(stack, unsent)
    _forget_the_notice(stack, unsent)

    assert stack.stop() == 0
    stack.start()

    ids = {approval["session_id"] for approval in stack.request("GET", "/approvals").json["approvals"]}
    assert {waiting["session_id"], unsent["session_id"]} <= ids
    assert not {approved["session_id"], rejected["session_id"]} & ids

    def sent_again() -> bool:
        stack.sweep()
        return _link_of(stack, unsent) != first

    until(sent_again, seconds=SETTLE_SECONDS)
    for session, where in ((waiting, link), (unsent, _link_of(stack, unsent))):
        assert stack.post_decision(where, session["pending_calls"][0]["digest"], "approved").status == 200
    for session in (waiting, approved, rejected, unsent, asked.json):
        stack.settled(session["session_id"], "completed")
    assert stack.files() & {path, *others} == {others[1]}
    assert [len(stack.events(session["session_id"], "execution")) for session in (waiting, approved, unsent)] == [1] * 3


def test_a_model_that_fails_leaves_a_session_that_can_go_on(stack: Stack, path: str) -> None:
    error = {"type": "ValidationException", "message": "no", "status": 400}
    script = {"contains": path, "turns": [{"error": error}]}
    assert stack.request("POST", stack.facts["model_url"] + "/script", body=json.dumps(script)).status == 200

    failed = stack.start_session(f"read {path}")
    assert failed["status"] == "failed"
    assert failed["error"]["code"] == "model-failed"

    body = json.dumps({"message": f"read {path}"})
    answer = stack.request("POST", f"/sessions/{failed['session_id']}/messages", body=body)
    assert (answer.status, answer.json["status"]) == (200, "completed")
    assert "some text" in answer.json["output"]


def _link_of(stack: Stack, session: dict[str, Any]) -> str:
    return stack.link(session["session_id"], session["pending_calls"][0]["call_id"])


def _decide_and_die(stack: Stack, session: dict[str, Any], verdict: Verdict) -> None:
    """Write a decision as the page does, and go no further: nobody is woken."""
    client = stack.client("dynamodb")
    store = DynamoDBStore(client, stack.facts["outputs"]["TableName"], new_id, Bodies(stack.client("s3"), ""))
    call = store.call(session["session_id"], session["pending_calls"][0]["call_id"])
    decision = Decision(
        verdict=verdict,
        by=BY_LINK,
        at=datetime.now(UTC),
        verified="link",
        digest_shown=call.digest,
        digest_approved=call.digest,
    )
    store.decide(call.session_id, call.call_id, decision, token_hash=None)


def _forget_the_notice(stack: Stack, session: dict[str, Any]) -> None:
    """Put the record back to where its process would have died before the mail went out."""
    key = {"pk": {"S": session["session_id"]}, "sk": {"S": f"CALL#{session['pending_calls'][0]['call_id']}"}}
    past = datetime.now(UTC) - timedelta(minutes=5)
    stack.client("dynamodb").update_item(
        TableName=stack.facts["outputs"]["TableName"],
        Key=key,
        UpdateExpression="SET #notify = :due, due_at = :past",
        ExpressionAttributeNames={"#notify": "notify"},
        ExpressionAttributeValues={":due": {"S": "due"}, ":past": {"S": moment_text(past)}},
    )


def _until_run(stack: Stack, session_id: str, count: int) -> None:
    until(lambda: len(stack.events(session_id, "execution")) == count, seconds=SETTLE_SECONDS)
