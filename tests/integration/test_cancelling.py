"""Cancelling: for good, harmless when repeated, and nothing of the session can be approved or run afterwards."""

from __future__ import annotations

import pytest

from tests.support.clerk import desk
from tests.support.deployment import SHRED, Deployment
from tests.support.gateway import CALLER


def test_case_48_a_cancelled_session_says_so_and_its_links_are_refused(deployment: Deployment) -> None:
    link = deployment.paused()

    answer = deployment.cancel(link.session_id)

    assert (answer.status, answer.json["status"], answer.json["pending_calls"]) == (200, "cancelled", [])
    for verdict in ("approved", "rejected"):
        refused = deployment.post(link, decision=verdict)
        assert refused.status == 409
        assert '<h1><bdi dir="ltr" translate="no">Cancelled, not run</bdi></h1>' in refused.page
        assert "decided before" not in refused.page
    assert "Cancelled, not run" in deployment.show(link).page
    deployment.deliver()
    assert desk.entered == []
    event = deployment.events(link.session_id)[-1]
    assert (event["type"], event["by"]) == ("session_cancelled", CALLER)


def test_case_48_a_signed_in_caller_is_refused_in_words_that_fit(deployment: Deployment) -> None:
    link = deployment.paused()
    deployment.cancel(link.session_id)

    problem = deployment.resume(link.session_id, {"call_id": link.call_id, "decision": "approved"}).problem

    assert (problem["status"], problem["type"]) == (409, "urn:pausepoint:problem:already-decided")
    assert problem["detail"] == "Call c2-0 cannot be decided any more: it is cancelled."
    assert problem["call"]["status"] == "cancelled"


def test_case_48_cancelling_twice_is_harmless(deployment: Deployment) -> None:
    link = deployment.paused()
    first = deployment.cancel(link.session_id)
    before = deployment.table()

    assert deployment.cancel(link.session_id) == first
    assert deployment.table() == before


def test_case_48_a_call_that_was_approved_and_not_started_does_not_run_after_a_cancel(deployment: Deployment) -> None:
    link = deployment.paused()
    deployment.post(link)
    deployment.cancel(link.session_id)

    deployment.deliver()

    assert desk.entered == []
    assert deployment.status(link) == "cancelled"
    assert "The session was cancelled. It did not run and will not." in deployment.show(link).page


def test_case_48_a_session_that_has_ended_can_be_cancelled(deployment: Deployment) -> None:
    desk.script("Hello.")
    session_id = deployment.start("hello").json["session_id"]

    assert deployment.cancel(session_id).json["status"] == "cancelled"


@pytest.mark.parametrize("turns", [(SHRED,), ("Hello.",)])
def test_a_message_to_a_cancelled_session_is_refused(deployment: Deployment, turns: tuple[object, ...]) -> None:
    desk.script(*turns)  # type: ignore[arg-type]
    session_id = deployment.start("hello").json["session_id"]
    deployment.cancel(session_id)

    problem = deployment.say(session_id, "wait").problem

    assert (problem["status"], problem["type"]) == (409, "urn:pausepoint:problem:session-ended")
    assert problem["detail"] == "The session was cancelled. Start a new one."
    assert deployment.session(session_id)["status"] == "cancelled"
