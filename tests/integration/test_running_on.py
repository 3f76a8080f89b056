"""What takes longer than the gateway waits is handed over: 202, where to look, and a wake-up with an id only."""

from __future__ import annotations

import json

from pausepoint.errors import ModelTimeout
from tests.support.clerk import desk
from tests.support.deployment import SHRED, Deployment

SHORT = 4_000
"""Milliseconds in which no step is worth starting."""


def test_case_40_a_session_that_runs_on_is_answered_at_once_and_finished_by_the_worker(
    deployment: Deployment,
) -> None:
    desk.script("Hello.")
    answer = deployment.start("hello", milliseconds=SHORT)

    assert (answer.status, answer.json["status"], answer.json["output"]) == (202, "running", "")
    assert answer.headers["Location"] == f"/sessions/{answer.json['session_id']}"
    assert answer.json == deployment.session(answer.json["session_id"])
    assert len(desk.asked) == 0

    (message,) = deployment.wakeups()
    assert json.loads(message["Body"]) == {"session_id": answer.json["session_id"]}
    assert deployment.work(message["Body"]) == []
    assert deployment.session(answer.json["session_id"])["output"] == "Hello."


def test_an_approval_that_leaves_no_time_to_run_is_recorded_and_run_by_the_worker(deployment: Deployment) -> None:
    link = deployment.paused()

    answer = deployment.resume(link.session_id, {"call_id": link.call_id, "decision": "approved"}, milliseconds=SHORT)

    assert (answer.status, answer.headers["Location"]) == (202, f"/sessions/{link.session_id}")
    assert [call["status"] for call in answer.json["pending_calls"]] == ["approved"]
    assert desk.entered == []
    deployment.deliver()
    assert len(desk.entered) == 1


def test_a_model_that_is_too_slow_for_the_gateway_is_asked_again_by_the_worker(deployment: Deployment) -> None:
    desk.script(ModelTimeout("too slow"), "At last.")
    answer = deployment.start("hello")

    assert answer.status == 202
    deployment.deliver()
    assert deployment.session(answer.json["session_id"])["output"] == "At last."


def test_a_message_to_a_session_that_runs_on_is_refused_and_says_when_to_send_it(deployment: Deployment) -> None:
    desk.script(SHRED)
    session_id = deployment.start("hello", milliseconds=SHORT).json["session_id"]

    deployment.occupy(session_id)
    problem = deployment.say(session_id, "and more").problem

    assert (problem["status"], problem["type"]) == (409, "urn:pausepoint:problem:session-busy")
    assert problem["detail"] == "The session is running. Wait until it rests, then send the message."


def test_case_41_a_decision_before_the_starting_function_has_finished_counts(deployment: Deployment) -> None:
    def click() -> None:
        (link,) = deployment.links()
        assert deployment.post(link).status == 200
        deployment.deliver()  # in vain: the starting function holds the session

    desk.script([*SHRED, ("look", {"path": "b.txt"})], "Done.")
    desk.meanwhile = click  # while `look` runs

    answer = deployment.start()

    assert (answer.json["status"], answer.json["output"]) == ("completed", "Done.")
    assert [name for name, _ in desk.entered] == ["look", "shred"]
