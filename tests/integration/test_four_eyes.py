"""Whoever asked for a call does not approve it, where a deployment wants that and identities are verified."""

from __future__ import annotations

from typing import Any

import pytest

from pausepoint.bootstrap import application
from pausepoint.errors import ConfigurationError
from pausepoint.settings import Settings
from tests.support.clerk import desk
from tests.support.cut_off import put_in_doubt
from tests.support.deployment import SHRED, Deployment
from tests.support.gateway import CALLER, Link, request
from tests.support.wire import Wire

BOB = CALLER.replace("ada", "bob")
ROLE = "arn:aws:sts::123456789012:assumed-role/Approvers"


@pytest.fixture(autouse=True)
def rule(deployment: Deployment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALLOW_SELF_APPROVAL", "false")
    application.cache_clear()


def decide(deployment: Deployment, link: Link, decision: str, caller: str = CALLER, **more: Any) -> Any:
    return deployment.resume(link.session_id, {"call_id": link.call_id, "decision": decision, **more}, caller=caller)


@pytest.mark.parametrize("more", [{}, {"arguments": {"path": "b.txt"}}], ids=["as asked", "edited"])
def test_who_started_a_session_cannot_approve_its_calls_and_is_told_who_can(
    deployment: Deployment, wire: Wire, more: Any
) -> None:
    link = deployment.paused()
    wire.sent.clear()

    problem = decide(deployment, link, "approved", **more).problem

    assert (problem["status"], problem["type"]) == (403, "urn:pausepoint:problem:own-request")
    assert problem["field"] == "decisions.0.decision"
    assert "You asked for call c2-0" in problem["detail"]
    assert (
        "somebody else has to approve it: anybody else who may call this API, or who has its link" in problem["detail"]
    )
    assert wire.writes == []
    assert (deployment.status(link), desk.entered) == ("pending", [])


def test_somebody_else_can_and_so_can_who_has_the_link(deployment: Deployment) -> None:
    first, second = deployment.paused_at([*SHRED, ("shred", {"path": "b.txt"})], "Done.")

    assert decide(deployment, first, "approved", BOB).status == 200
    assert deployment.post(second).status == 200

    deployment.deliver()
    assert len(desk.entered) == 2
    decisions = [event for event in deployment.events(first.session_id) if event["type"] == "decision"]
    assert [(each["by"], each["identity"]) for each in decisions] == [
        (BOB, "verified"),
        ("the holder of the approval link", "claimed"),
    ]


def test_ones_own_can_be_rejected(deployment: Deployment) -> None:
    link = deployment.paused(SHRED, "Then not.")

    assert decide(deployment, link, "rejected").json["status"] == "completed"


@pytest.mark.parametrize("word", ["happened", "did_not_happen", "run_again"])
def test_what_became_of_ones_own_may_be_said_and_running_it_again_takes_somebody_else(
    deployment: Deployment, word: str
) -> None:
    asking = put_in_doubt(deployment, SHRED, "Done.")

    answer = decide(deployment, asking, word)

    assert answer.status == 200
    for call in answer.json["pending_calls"]:
        again = Link(asking.session_id, call["call_id"], "", "")
        assert decide(deployment, again, "approved").status == 403
    assert len(answer.json["pending_calls"]) == (1 if word == "run_again" else 0)


def test_one_approval_of_ones_own_among_several_decisions_records_none(deployment: Deployment) -> None:
    first, second = deployment.paused_at([*SHRED, ("shred", {"path": "b.txt"})])
    decisions = [
        {"call_id": first.call_id, "decision": "rejected"},
        {"call_id": second.call_id, "decision": "approved"},
    ]

    problem = deployment.resume(first.session_id, *decisions).problem

    assert (problem["status"], problem["field"]) == (403, "decisions.1.decision")
    assert (deployment.status(first), deployment.status(second)) == ("pending", "pending")


def test_who_said_something_in_a_session_asked_for_what_followed(deployment: Deployment) -> None:
    desk.script("Hello.", SHRED, "Done.")
    session_id = deployment.start("hello").json["session_id"]
    event = request("message", session_id, body={"message": "shred a.txt"}, caller=BOB)
    assert deployment.send("start", event).json["status"] == "paused"
    (link,) = deployment.links()

    assert decide(deployment, link, "approved", BOB).status == 403
    assert decide(deployment, link, "approved", CALLER).status == 403
    assert decide(deployment, link, "approved", f"{ROLE}/eve").status == 200


def test_two_sessions_of_one_role_are_one_and_two_roles_are_two(deployment: Deployment) -> None:
    desk.script(SHRED, "Done.")
    deployment.send("start", request("start", body={"message": "shred a.txt"}, caller=f"{ROLE}/ada"))
    (link,) = deployment.links()

    assert decide(deployment, link, "approved", f"{ROLE}/bob").status == 403
    assert decide(deployment, link, "approved", f"{ROLE}OfOthers/ada").status == 200


def test_without_the_rule_ones_own_can_be_approved(deployment: Deployment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALLOW_SELF_APPROVAL", "true")
    application.cache_clear()
    link = deployment.paused(SHRED, "Done.")

    assert decide(deployment, link, "approved").status == 200


def test_the_rule_is_not_taken_where_nobody_is_verified() -> None:
    environment = {"TABLE_NAME": "t", "ALLOW_SELF_APPROVAL": "false", "REQUIRE_SIGNED_CALLER": "false"}

    with pytest.raises(ConfigurationError, match="ALLOW_SELF_APPROVAL=false needs REQUIRE_SIGNED_CALLER=true"):
        Settings.from_environment(environment)
