"""Posting the page's form: the first decision stands, it comes from the page itself, and it comes in time."""

from __future__ import annotations

import json

import pytest

from tests.support.clerk import desk
from tests.support.deployment import SHRED, Deployment
from tests.support.gateway import DOMAIN


def test_r2_the_same_decision_again_is_already_there_and_says_by_whom_and_when(deployment: Deployment) -> None:
    link = deployment.paused()
    deployment.post(link)
    before = deployment.table()

    again = deployment.post(link)

    assert again.status == 200
    assert "Already approved" in again.page
    assert "Approved by <bdi" in again.page
    assert deployment.table() == before


@pytest.mark.parametrize(("first", "second"), [("approved", "rejected"), ("rejected", "approved")])
def test_r2_i5_the_other_decision_is_refused_with_the_standing_one(
    deployment: Deployment, first: str, second: str
) -> None:
    link = deployment.paused(SHRED, "Done.")
    deployment.post(link, decision=first)
    before = deployment.table()

    late = deployment.post(link, decision=second)

    assert late.status == 409
    assert "This was decided before" in late.page
    assert f"{first.capitalize()} by" in late.page
    assert deployment.table() == before


def test_r2_a_signed_in_caller_is_told_the_standing_decision(deployment: Deployment) -> None:
    link = deployment.paused()
    deployment.post(link)

    problem = deployment.resume(link.session_id, {"call_id": link.call_id, "decision": "rejected"}).problem

    assert (problem["status"], problem["type"]) == (409, "urn:pausepoint:problem:already-decided")
    assert problem["detail"] == "Call c2-0 was decided before and is approved."
    assert problem["call"]["decision"]["verdict"] == "approved"


def test_case_02_an_old_link_of_a_rejected_call_does_not_touch_the_new_one(deployment: Deployment) -> None:
    old = deployment.paused(SHRED, SHRED, "Done.")
    deployment.post(old, decision="rejected")
    deployment.deliver()
    (new,) = deployment.links()

    assert deployment.post(old, decision="approved").status == 409
    assert deployment.status(new) == "pending"
    assert desk.entered == []


def test_case_45_r3_past_its_expiry_a_call_is_gone_and_cannot_be_decided(deployment: Deployment) -> None:
    link = deployment.paused()
    deployment.expire(link)
    before = deployment.table()

    for answer in (deployment.show(link), deployment.post(link), deployment.post(link, decision="rejected")):
        assert answer.status == 410
        assert "Expired, not run" in answer.page
        assert "<form" not in answer.page
    problem = deployment.resume(link.session_id, {"call_id": link.call_id, "decision": "approved"}).problem

    assert (problem["status"], problem["type"]) == (410, "urn:pausepoint:problem:call-expired")
    assert problem["detail"] == "The time to decide ended at 2026-01-01 00:00 UTC."
    assert deployment.table() == before
    assert desk.entered == []


@pytest.mark.parametrize(
    ("site", "origin", "allowed"),
    [
        ("same-origin", "null", True),  # what browsers send under our own Referrer-Policy
        ("same-origin", f"https://{DOMAIN}", True),
        ("none", None, True),
        (None, None, True),  # a program, or an old browser
        (None, "null", True),  # an old browser under our own Referrer-Policy
        (None, f"https://{DOMAIN}", True),
        (None, "https://evil.example", False),
        (None, f"http://{DOMAIN}", False),
        (None, f"https://{DOMAIN}.evil.example", False),
        (None, f"https://evil.example//{DOMAIN}", False),
        ("cross-site", None, False),
        ("cross-site", f"https://{DOMAIN}", False),
        ("same-site", "null", False),
        ("", "null", False),
        ("same-origin,cross-site", "null", False),
    ],
)
def test_r6_a_decision_comes_from_the_page_itself(
    deployment: Deployment, site: str | None, origin: str | None, *, allowed: bool
) -> None:
    link = deployment.paused()

    answer = deployment.post(link, headers={"sec-fetch-site": site, "origin": origin})

    assert answer.status == (200 if allowed else 400)
    assert deployment.status(link) == ("approved" if allowed else "pending")
    if not allowed:
        assert "Open the link from your message and decide on that page." in answer.page


def test_r6_r11_a_forged_host_does_not_make_another_site_our_own(deployment: Deployment) -> None:
    link = deployment.paused()
    forged = {"sec-fetch-site": None, "origin": "https://evil.example", "host": "evil.example"}

    assert deployment.post(link, headers=forged).status == 400
    assert deployment.status(link) == "pending"


def test_r6_the_public_address_of_the_page_is_its_own_origin(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BASE_URL", "https://approve.example.com/team")
    link = deployment.paused()

    answer = deployment.post(link, headers={"sec-fetch-site": None, "origin": "https://approve.example.com"})

    assert answer.status == 200


def test_r20_a_digest_that_was_not_shown_decides_nothing(deployment: Deployment) -> None:
    link = deployment.paused()

    answer = deployment.post(link, digest="0" * 64)

    assert answer.status == 409
    assert "The call is not the one that was shown. Open the link again and look at it." in answer.page
    assert deployment.status(link) == "pending"


def test_case_12_a_call_that_was_altered_after_the_pause_is_not_run(deployment: Deployment) -> None:
    link = deployment.paused(SHRED, "Then not.")
    deployment.change(link, arguments='{"copies":1,"path":"everything"}')

    deployment.post(link)
    deployment.deliver()

    assert desk.entered == []
    assert deployment.status(link) == "stale"
    assert "Not run: the stored call was altered" in deployment.events(link.session_id)[-2]["text"]


@pytest.mark.parametrize("body", [json.dumps({"decision": "approved"}), "decision=approved", ""])
def test_a_decision_without_the_token_is_refused(deployment: Deployment, body: str) -> None:
    link = deployment.paused()

    assert deployment.post_body(link, body).status == 400
    assert deployment.status(link) == "pending"
