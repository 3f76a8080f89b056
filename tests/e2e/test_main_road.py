"""The main job, over HTTP: start, pause, mail, decide, carry on."""

from __future__ import annotations

import json

import pytest

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


def test_everything_may_be_stopped_between_pause_and_decision(stack: Stack, path: str) -> None:
    paused = stack.start_session(f"delete {path}")
    (call,) = paused["pending_calls"]
    link = stack.link(paused["session_id"], call["call_id"])

    assert stack.stop() == 0
    stack.start()

    waiting = stack.request("GET", "/approvals").json["approvals"]
    assert paused["session_id"] in [approval["session_id"] for approval in waiting]
    assert stack.post_decision(link, call["digest"], "approved").status == 200
    stack.settled(paused["session_id"], "completed")
    assert path not in stack.files()


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


def _until_run(stack: Stack, session_id: str, count: int) -> None:
    until(lambda: len(stack.events(session_id, "execution")) == count, seconds=SETTLE_SECONDS)
