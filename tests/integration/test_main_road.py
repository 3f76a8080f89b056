"""Start, pause, mail, click, resume, done: through the functions, as a caller and an approver see it."""

from __future__ import annotations

import re

from tests.support.clerk import desk
from tests.support.deployment import SHRED, Deployment
from tests.support.gateway import CALLER

MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
TWO_CALLS = [("shred", {"path": "a.txt"}), ("look", {"path": "b.txt"}), ("shred", {"path": "c.txt"})]


def test_an_approved_call_runs_once_and_the_session_completes(deployment: Deployment) -> None:
    link = deployment.paused()
    assert "a.txt" in deployment.show(link).page

    assert deployment.post(link).status == 200
    assert desk.entered == []  # the page cannot run tools

    deployment.deliver()
    assert desk.entered == [("shred", {"path": "a.txt", "copies": 1})]
    ended = deployment.session(link.session_id)
    assert (ended["status"], ended["output"], ended["pending_calls"]) == ("completed", "It is gone.", [])


def test_a_rejected_call_is_not_entered_and_the_model_reads_the_reason(deployment: Deployment) -> None:
    link = deployment.paused(SHRED, "The auditors need it, so it stays.")

    assert deployment.post(link, decision="rejected", reason="The auditors\r\nneed it.").status == 200
    deployment.deliver()

    assert desk.entered == []
    ((_, result),) = desk.asked[1].history[-1].results  # type: ignore[union-attr]
    assert (result.status, result.entered) == ("error", False)
    assert result.text == "Not run: a person rejected this call. Their reason: The auditors\nneed it."
    assert deployment.session(link.session_id)["output"] == "The auditors need it, so it stays."


def test_start_answers_with_the_fixed_names(deployment: Deployment) -> None:
    desk.script(SHRED)
    answer = deployment.start()

    assert (answer.status, answer.headers["Content-Type"]) == (200, "application/json")
    body = answer.json
    assert {"session_id", "status", "output", "pending_calls"} <= body.keys()
    assert re.fullmatch(r"[a-z2-7]{26}", body["session_id"])
    assert (body["status"], body["output"]) == ("paused", "")
    (call,) = body["pending_calls"]
    assert MOMENT.fullmatch(call.pop("requested_at"))
    assert MOMENT.fullmatch(call.pop("expires_at"))
    assert re.fullmatch(r"[0-9a-f]{64}", call.pop("digest"))
    assert call == {
        "call_id": "c2-0",
        "tool_call_id": "toolu_1_0",
        "name": "shred",
        "arguments": {"path": "a.txt", "copies": 1},
        "status": "pending",
        "risk": "medium",
    }


def test_a_session_is_shown_with_the_same_and_its_times_agent_and_usage(deployment: Deployment) -> None:
    desk.script(SHRED)
    started = deployment.start().json
    shown = deployment.session(started["session_id"])

    assert {name: shown[name] for name in started} == started
    assert (shown["agent"], shown["requested_by"]) == ("clerk", CALLER)
    assert shown["usage"] == {"model_calls": 1, "tool_calls": 1, "input_tokens": 10, "output_tokens": 10}
    assert MOMENT.fullmatch(shown["created_at"])
    assert shown["updated_at"] >= shown["created_at"]


def test_a_signed_in_caller_decides_and_gets_the_same_body(deployment: Deployment) -> None:
    link = deployment.paused()

    answer = deployment.resume(link.session_id, {"call_id": link.call_id, "decision": "approved"})

    assert answer.status == 200
    assert (answer.json["status"], answer.json["output"], answer.json["pending_calls"]) == (
        "completed",
        "It is gone.",
        [],
    )
    assert answer.json == deployment.session(link.session_id)
    assert len(desk.entered) == 1


def test_a_signed_in_caller_rejects_with_a_reason(deployment: Deployment) -> None:
    link = deployment.paused(SHRED, "Then not.")

    decision = {"call_id": link.call_id, "decision": "rejected", "reason": "not today"}
    assert deployment.resume(link.session_id, decision).json["output"] == "Then not."

    assert desk.entered == []
    assert "not today" in deployment.show(link).page


def test_two_calls_of_a_turn_are_decided_one_by_one_and_the_model_is_asked_once_after_both(
    deployment: Deployment,
) -> None:
    first, second = deployment.paused_at(TWO_CALLS, "Done.")
    assert desk.entered == [("look", {"path": "b.txt"})]

    deployment.post(second)
    deployment.deliver()
    assert desk.entered[1:] == [("shred", {"path": "c.txt", "copies": 1})]
    half = deployment.session(first.session_id)
    assert (half["status"], [call["call_id"] for call in half["pending_calls"]]) == ("paused", [first.call_id])
    assert len(desk.asked) == 1

    deployment.post(first, decision="rejected")
    deployment.deliver()
    assert len(desk.entered) == 2
    assert len(desk.asked) == 2
    results = desk.asked[1].history[-1].results  # type: ignore[union-attr]
    assert [call.call_id for call, _ in results] == ["c2-0", "c2-1", "c2-2"]
    assert [result.status for _, result in results] == ["error", "success", "success"]
    assert deployment.notices() == []  # nobody is asked again


def test_a_follow_up_message_goes_on_in_the_same_session_and_pauses_there_too(deployment: Deployment) -> None:
    desk.script("Hello.", SHRED)
    session_id = deployment.start("hello").json["session_id"]

    followed = deployment.say(session_id, "now shred a.txt")

    assert (followed.status, followed.json["status"], followed.json["session_id"]) == (200, "paused", session_id)
    assert [link.call_id for link in deployment.links()] == ["c4-0"]
    assert desk.entered == []


def test_the_model_is_not_asked_between_pause_and_run(deployment: Deployment) -> None:
    link = deployment.paused(SHRED, [("shred", {"path": "other.txt"})])
    deployment.post(link)
    deployment.deliver()

    assert desk.entered == [("shred", {"path": "a.txt", "copies": 1})]
