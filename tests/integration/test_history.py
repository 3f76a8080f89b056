"""What can be read afterwards: who decided what, when, how that was verified, what was shown, what ran."""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING

from pausepoint.bootstrap import application
from tests.support.clerk import desk
from tests.support.deployment import SHRED, Deployment
from tests.support.gateway import CALLER, request

if TYPE_CHECKING:
    import pytest

MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")


def test_case_56_the_log_tells_the_whole_story_of_an_approval(deployment: Deployment) -> None:
    link = deployment.paused()
    digest = deployment.session(link.session_id)["pending_calls"][0]["digest"]
    deployment.post(link, reason="checked")
    deployment.deliver()

    events = deployment.events(link.session_id)
    assert [event["seq"] for event in events] == list(range(1, 7))
    assert all(MOMENT.fullmatch(event["at"]) for event in events)
    said, asked, decision, execution, result, ended = events
    assert (said["type"], said["by"], said["text"]) == ("user_message", CALLER, "shred a.txt")
    assert asked["type"] == "assistant_turn"
    assert asked["calls"][0]["arguments"] == {"path": "a.txt", "copies": 1}
    assert decision == {
        "seq": 3,
        "type": "decision",
        "at": decision["at"],
        "call_id": "c2-0",
        "name": "shred",
        "verdict": "approved",
        "by": "the holder of the approval link",
        "verified": "link",
        "reason": "checked",
        "digest_shown": digest,
    }
    assert (execution["type"], execution["digest_run"], execution["status"]) == ("execution", digest, "succeeded")
    assert asked["at"] <= decision["at"] <= execution["at"] <= execution["ended_at"]
    assert (result["type"], result["status"], result["text"], result["entered"]) == (
        "tool_result",
        "success",
        "done",
        True,
    )
    assert (ended["type"], ended["text"]) == ("assistant_turn", "It is gone.")


def test_case_56_a_signed_decision_names_the_caller_and_how_it_was_verified(deployment: Deployment) -> None:
    link = deployment.paused(SHRED, "Then not.")
    deployment.resume(link.session_id, {"call_id": link.call_id, "decision": "rejected", "reason": "no"})

    decision, result = deployment.events(link.session_id)[2:4]
    assert (decision["verdict"], decision["by"], decision["verified"]) == ("rejected", CALLER, "aws-signature")
    assert (result["status"], result["entered"]) == ("error", False)
    page = deployment.show(link).page
    assert "by an AWS-signed request" in page
    assert CALLER in page


def test_case_56_an_unsigned_decision_claims_no_more_than_it_is(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = deployment.paused(SHRED, "Done.")
    monkeypatch.setenv("REQUIRE_SIGNED_CALLER", "false")
    application.cache_clear()
    body = {"decisions": [{"call_id": link.call_id, "decision": "approved"}]}

    deployment.send("resume", request("resume", link.session_id, body=body, signed=False))

    decision = deployment.events(link.session_id)[2]
    assert (decision["by"], decision["verified"]) == ("unsigned caller", "caller")


def test_case_29_edited_arguments_are_in_the_log_beside_what_was_shown(deployment: Deployment) -> None:
    link = deployment.paused()
    edited = {"path": "b.txt", "copies": 2}
    deployment.resume(link.session_id, {"call_id": link.call_id, "decision": "approved", "arguments": edited})

    _, asked, decision, execution, result, _ = deployment.events(link.session_id)
    assert desk.entered == [("shred", edited)]
    assert asked["calls"][0]["arguments"] == {"path": "a.txt", "copies": 1}
    assert decision["digest_shown"] == asked["calls"][0]["digest"] != execution["digest_run"]
    assert decision["arguments_approved"] == '{"copies":2,"path":"b.txt"}'
    assert 'from {"copies":1,"path":"a.txt"} to {"copies":2,"path":"b.txt"}' in result["text"]


def test_the_log_comes_in_pages_that_join_without_a_gap(deployment: Deployment) -> None:
    link = deployment.paused()
    deployment.post(link)
    deployment.deliver()

    pages, following = [], "0"
    while following is not None:
        query = {"limit": "2", "next": following}
        page = deployment.send("sessions", request("session-events", link.session_id, query=query)).json
        pages.append([event["seq"] for event in page["events"]])
        following = page["next"]

    assert pages == [[1, 2], [3, 4], [5, 6]]


def test_case_57_pending_calls_of_all_sessions_are_listed_after_a_restart_with_age_and_expiry(
    deployment: Deployment,
) -> None:
    links = [deployment.paused(), *deployment.paused_at([*SHRED, ("shred", {"path": "b.txt"})])]
    done = deployment.paused()
    deployment.post(done)
    deployment.deliver()
    application.cache_clear()  # another process

    listed = deployment.listed("approvals").json

    assert listed["next"] is None
    assert {(call["session_id"], call["call_id"]) for call in listed["approvals"]} == {
        (link.session_id, link.call_id) for link in links
    }
    for call in listed["approvals"]:
        assert (call["status"], call["agent"], call["requested_by"], call["name"]) == (
            "pending",
            "clerk",
            CALLER,
            "shred",
        )
        assert call["age_seconds"] >= 0
        asked, ends = (datetime.fromisoformat(call[name]) for name in ("requested_at", "expires_at"))
        assert (ends - asked).total_seconds() == 86_400
        assert "token" not in str(call)


def test_case_57_pending_calls_of_one_session_are_listed_after_a_restart(deployment: Deployment) -> None:
    first, second = deployment.paused_at([*SHRED, ("shred", {"path": "b.txt"})], "Done.")
    deployment.post(first)
    deployment.deliver()
    application.cache_clear()

    (call,) = deployment.session(first.session_id)["pending_calls"]
    assert call["call_id"] == second.call_id
    assert call["requested_at"] < call["expires_at"]
