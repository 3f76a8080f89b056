"""The page of a call in doubt: it asks what happened, and its three buttons say so; nothing else does anything."""

from __future__ import annotations

import re

import pytest

from tests.support.clerk import desk
from tests.support.cut_off import age, cut_off, put_in_doubt
from tests.support.deployment import SHRED, Deployment
from tests.support.wire import Wire

ANSWERS = ("happened", "did_not_happen", "run_again")


def test_it_shows_what_was_run_and_asks_what_happened(deployment: Deployment) -> None:
    link = put_in_doubt(deployment)
    answer = deployment.show(link)
    assert answer.status == 200
    assert "What happened?" in answer.page
    assert "a.txt" in answer.page
    assert re.findall(r'<button [^>]*name="decision" value="(\w+)"', answer.page) == list(ANSWERS)
    assert 'value="approved"' not in answer.page
    assert "script" not in answer.page
    assert answer.page.count(link.token) == 1


@pytest.mark.parametrize("probe", [False, True])
def test_case_49_i8_opening_it_changes_nothing(deployment: Deployment, wire: Wire, *, probe: bool) -> None:
    link = put_in_doubt(deployment)
    before = deployment.table()
    wire.sent.clear()
    for _ in range(2):
        assert deployment.show(link, probe=probe).status == 200
    assert wire.sent == ["dynamodb.GetItem"] * 2
    assert (deployment.table(), deployment.wakeups()) == (before, [])


@pytest.mark.parametrize(("word", "status"), [("happened", "success"), ("did_not_happen", "error")])
def test_an_answer_is_recorded_and_the_session_goes_on(deployment: Deployment, word: str, status: str) -> None:
    link = put_in_doubt(deployment)
    answer = deployment.post(link, decision=word, reason="I looked.")
    assert answer.status == 200
    assert 'name="decision"' not in answer.page
    deployment.deliver()
    session = deployment.session(link.session_id)
    assert (session["status"], session["output"], len(desk.entered)) == ("completed", "It is gone.", 1)
    events = {event["type"]: event for event in deployment.events(link.session_id)}
    assert events["tool_result"]["status"] == status
    resolved = events["doubt_resolved"]
    assert (resolved["answer"], resolved["reason"], resolved["verified"]) == (word, "I looked.", "link")


def test_run_again_asks_for_an_approval_behind_another_link(deployment: Deployment) -> None:
    link = put_in_doubt(deployment)
    page = deployment.post(link, decision="run_again").page
    assert "another call with a link of its own" in page
    deployment.deliver()
    (again,) = deployment.links()
    assert (again.session_id, again.call_id != link.call_id) == (link.session_id, True)
    assert (deployment.status(again), len(desk.entered)) == ("pending", 1)
    deployment.post(again)
    deployment.deliver()
    assert (deployment.session(link.session_id)["status"], len(desk.entered)) == ("completed", 2)
    first, second = desk.contexts
    assert first.idempotency_key != second.idempotency_key


@pytest.mark.parametrize("standing", ANSWERS)
@pytest.mark.parametrize("later", ANSWERS)
def test_the_first_answer_stands_and_a_second_sees_it(deployment: Deployment, standing: str, later: str) -> None:
    link = put_in_doubt(deployment)
    deployment.post(link, decision=standing)
    before = deployment.call(link)
    answer = deployment.post(link, decision=later)
    assert answer.status == (200 if later == standing else 409)
    if later == standing:
        assert "Already answered" in answer.page
    assert deployment.call(link) == before
    assert deployment.show(link).status == 200


@pytest.mark.parametrize("word", ["", "Happened", "happened ", "yes", "did not happen", "approve", "null", "true"])
def test_case_03_only_the_exact_words_act(deployment: Deployment, word: str) -> None:
    link = put_in_doubt(deployment)
    before = deployment.table()
    answer = deployment.post(link, decision=word)
    assert answer.status == 400
    assert "(field: decision)" in answer.page
    assert deployment.table() == before


@pytest.mark.parametrize("word", ["approved", "rejected"])
def test_case_04_deciding_a_call_in_doubt_does_nothing(deployment: Deployment, word: str) -> None:
    link = put_in_doubt(deployment)
    before = deployment.table()
    assert deployment.post(link, decision=word).status == (200 if word == "approved" else 409)
    deployment.deliver()
    assert (deployment.table(), len(desk.entered)) == (before, 1)


@pytest.mark.parametrize("word", ANSWERS)
def test_case_04_answering_a_call_that_waits_for_an_approval_is_a_400(
    undisturbed: Deployment, wire: Wire, word: str
) -> None:
    link = undisturbed.standing()
    before = undisturbed.table()
    wire.sent.clear()
    answer = undisturbed.post(link, decision=word)
    assert answer.status == 400
    assert "(field: decision)" in answer.page
    assert (undisturbed.table(), wire.writes) == (before, [])


@pytest.mark.parametrize("word", ANSWERS)
def test_case_04_answering_a_call_that_runs_is_a_400(deployment: Deployment, word: str) -> None:
    link = deployment.paused()
    cut_off(deployment, link)
    before = deployment.table()
    assert deployment.post(link, decision=word).status == 400
    assert deployment.table() == before


def test_case_54_a_wrong_token_answers_nothing(deployment: Deployment) -> None:
    link = put_in_doubt(deployment)
    before = deployment.table()
    assert deployment.post(link, t="A" * 43, decision="happened").status == 404
    assert deployment.table() == before


def test_r6_another_site_cannot_answer(deployment: Deployment) -> None:
    link = put_in_doubt(deployment)
    assert deployment.post(link, decision="happened", headers={"sec-fetch-site": "cross-site"}).status == 400
    assert deployment.status(link) == "in_doubt"


@pytest.mark.parametrize("word", ANSWERS)
def test_case_38_an_answer_whose_wake_up_was_lost_is_acted_on_by_the_sweeper(deployment: Deployment, word: str) -> None:
    link = put_in_doubt(deployment, SHRED, "It is gone.")
    deployment.post(link, decision=word)
    deployment.wakeups()  # lost
    age(deployment)
    assert deployment.sweep() == {"Woken": 1}
    deployment.deliver()
    assert deployment.session(link.session_id)["status"] == ("paused" if word == "run_again" else "completed")


def test_a_signed_in_caller_can_answer_too(deployment: Deployment) -> None:
    link = put_in_doubt(deployment)
    (waiting,) = deployment.listed("approvals").json["approvals"]
    assert (waiting["call_id"], waiting["status"]) == (link.call_id, "in_doubt")
    answer = deployment.resume(link.session_id, {"call_id": link.call_id, "decision": "did_not_happen"})
    assert (answer.status, answer.json["status"]) == (200, "completed")
    (resolved,) = [event for event in deployment.events(link.session_id) if event["type"] == "doubt_resolved"]
    assert resolved["verified"] == "aws-signature"
