"""What can be read afterwards: who decided what, when, how that was verified, what was shown, what ran."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

import pytest

from pausepoint.bootstrap import application
from tests.support.clerk import desk
from tests.support.cut_off import put_in_doubt
from tests.support.deployment import SHRED, Deployment
from tests.support.gateway import CALLER, request

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
        "identity": "claimed",
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
    assert decision["identity"] == "verified"
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
    assert (decision["by"], decision["verified"], decision["identity"]) == ("unsigned caller", "caller", "claimed")


def test_case_56_a_call_tells_who_decided_it_and_how_sure_that_is(deployment: Deployment) -> None:
    link, _ = deployment.paused_at([*SHRED, ("shred", {"path": "b.txt"})])
    deployment.post(link, reason="checked")
    desk.meanwhile = lambda: shown.extend(deployment.session(link.session_id)["pending_calls"])
    shown: list[dict[str, Any]] = []

    deployment.deliver()

    decision = next(call for call in shown if call["call_id"] == link.call_id)["decision"]
    assert (decision["verdict"], decision["reason"]) == ("approved", "checked")
    assert (decision["verified"], decision["identity"]) == ("link", "claimed")
    problem = deployment.resume(link.session_id, {"call_id": link.call_id, "decision": "rejected"}).problem
    assert problem["call"]["decision"] == decision


@pytest.mark.parametrize("signed", [True, False])
def test_case_56_what_became_of_a_call_in_doubt_says_how_sure_it_is_who_said_so(
    deployment: Deployment, *, signed: bool
) -> None:
    asking = put_in_doubt(deployment, SHRED, "Done.")
    if signed:
        deployment.resume(asking.session_id, {"call_id": asking.call_id, "decision": "happened"})
    else:
        deployment.post(asking, decision="happened")
        deployment.deliver()

    (resolved,) = [event for event in deployment.events(asking.session_id) if event["type"] == "doubt_resolved"]
    expected = ("aws-signature", "verified") if signed else ("link", "claimed")
    assert (resolved["verified"], resolved["identity"]) == expected


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


def test_case_35_a_page_of_the_log_ends_before_it_is_too_large_for_an_answer(deployment: Deployment) -> None:
    link = deployment.paused(*[[("look", {"path": f"{number}.txt"})] for number in range(8)], SHRED)
    desk.result = None
    sizes, seqs, following = [], [], "0"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pausepoint.http.views.MAX_PAGE_BYTES", 500)
        while following is not None:
            event = request("session-events", link.session_id, query={"next": following})
            answer = deployment.send("sessions", event)
            page = answer.json
            seqs += [each["seq"] for each in page["events"]]
            sizes.append((len(page["events"]), len(answer.text)))
            following = page["next"]

    assert seqs == [event["seq"] for event in deployment.events(link.session_id)]
    assert len(sizes) > 3
    assert all(count == 1 or size < 700 for count, size in sizes)


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

    other = deployment.paused()
    application.cache_clear()

    (call,) = deployment.session(first.session_id)["pending_calls"]
    assert call["call_id"] == second.call_id
    assert call["requested_at"] < call["expires_at"]
    (listed,) = deployment.listed("approvals", session=first.session_id).json["approvals"]
    assert listed == {**call, **{name: listed[name] for name in listed.keys() - call.keys()}}
    assert (listed["session_id"], listed["agent"], listed["age_seconds"] >= 0) == (first.session_id, "clerk", True)
    assert [call["call_id"] for call in deployment.listed("approvals", session=other.session_id).json["approvals"]] == [
        other.call_id
    ]
