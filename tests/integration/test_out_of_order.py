"""R45: when AWS does not answer, callers get a 503 they can act on, people get a page, and nothing is half done."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlencode

import pytest

from tests.support.clerk import desk
from tests.support.deployment import SHRED, Deployment
from tests.support.gateway import Answer, Link, request
from tests.support.wire import Wire

Ask = Callable[[Deployment, Link], Answer]
ASKED: dict[str, Ask] = {
    "start": lambda deployment, link: deployment.start("hello"),
    "message": lambda deployment, link: deployment.say(link.session_id, "hello"),
    "resume": lambda deployment, link: deployment.resume(
        link.session_id, {"call_id": link.call_id, "decision": "approved"}
    ),
    "session": lambda deployment, link: deployment.send("sessions", request("session", link.session_id)),
    "events": lambda deployment, link: deployment.send("sessions", request("session-events", link.session_id)),
    "sessions": lambda deployment, link: deployment.listed("sessions"),
    "approvals": lambda deployment, link: deployment.listed("approvals"),
    "cancel": lambda deployment, link: deployment.cancel(link.session_id),
}
ERRORS = [("ThrottlingException", 400), ("ProvisionedThroughputExceededException", 400), ("InternalServerError", 500)]


@pytest.mark.parametrize(("code", "status"), ERRORS)
@pytest.mark.parametrize("what", ASKED)
def test_r45_a_table_that_does_not_answer_is_a_503_with_retry_after(
    deployment: Deployment, wire: Wire, what: str, code: str, status: int
) -> None:
    link = deployment.paused()
    before = deployment.table()
    wire.fail("dynamodb.*", code, status=status)
    wire.sent.clear()

    answer = ASKED[what](deployment, link)

    problem = answer.problem
    assert (problem["status"], problem["type"]) == (503, "urn:pausepoint:problem:unavailable")
    assert int(answer.headers["Retry-After"]) > 0
    assert problem["detail"] == "The table does not answer. Nothing is half done; try again in a moment."
    assert 1 < len(wire.sent) <= 8  # tried again, but not for ever
    assert deployment.table() == before
    assert desk.entered == []


@pytest.mark.parametrize("what", ["GET", "HEAD", "POST"])
def test_r45_people_get_a_page_that_says_what_to_do(deployment: Deployment, wire: Wire, what: str) -> None:
    link = deployment.paused()
    before = deployment.table()
    form = urlencode(deployment.form(link))
    wire.fail("dynamodb.*")

    answer = deployment.post_body(link, form) if what == "POST" else deployment.show(link, probe=what == "HEAD")

    assert answer.status == 503
    assert int(answer.headers["Retry-After"]) > 0
    assert "does not answer right now. Open the link again in a moment" in answer.page
    assert deployment.table() == before


def test_r45_a_decision_that_cannot_be_written_is_not_half_recorded(deployment: Deployment, wire: Wire) -> None:
    link = deployment.paused()
    before = deployment.table()
    wire.fail("dynamodb.UpdateItem")

    assert deployment.post(link).status == 503
    assert deployment.table() == before
    assert deployment.wakeups() == []
    wire.heal()
    assert deployment.post(link).status == 200


def test_r45_one_throttled_request_is_repeated_and_nobody_notices(deployment: Deployment, wire: Wire) -> None:
    link = deployment.paused()
    wire.fail("dynamodb.UpdateItem", times=1)

    assert deployment.post(link).status == 200
    deployment.deliver()
    assert len(desk.entered) == 1


def test_r45_a_claim_that_may_not_have_been_written_does_not_enter_the_tool(deployment: Deployment, wire: Wire) -> None:
    link = deployment.paused()
    deployment.post(link)
    (message,) = deployment.wakeups()
    wire.fail("dynamodb.*")

    assert deployment.work(message["Body"]) == ["message-0"]  # it is to come again
    assert desk.entered == []
    wire.heal()
    assert deployment.work(message["Body"]) == []
    assert len(desk.entered) == 1


def test_case_38_a_wake_up_that_fails_leaves_the_decision_visible_and_the_next_click_wakes(
    deployment: Deployment, wire: Wire
) -> None:
    link = deployment.paused()
    wire.fail("sqs.*")
    assert deployment.post(link).status == 200
    assert deployment.wakeups() == []
    assert "Approved by" in deployment.show(link).page

    wire.heal()
    assert "Already approved" in deployment.post(link).page
    deployment.deliver()
    assert len(desk.entered) == 1


def test_a_notice_that_cannot_be_sent_does_not_fail_the_request_and_stays_due(
    deployment: Deployment, wire: Wire
) -> None:
    desk.script(SHRED)
    wire.fail("sns.*")

    answer = deployment.start()

    assert (answer.status, answer.json["status"]) == (200, "paused")
    row = deployment.row(answer.json["session_id"], "CALL#c2-0")
    assert row["notify"]["S"] == "due"
    assert row["due_at"] == row["requested_at"]


@pytest.mark.parametrize("code", ["AccessDeniedException", "ResourceNotFoundException"])
def test_a_deployment_that_is_set_up_wrongly_tells_its_log_and_not_its_callers(
    deployment: Deployment, wire: Wire, code: str
) -> None:
    link = deployment.paused()
    wire.fail("dynamodb.*", code)

    started, shown = deployment.start("hello"), deployment.show(link)

    assert started.problem["type"] == "urn:pausepoint:problem:configuration"
    assert started.problem["detail"] == "Something went wrong on our side. The log has the details."
    assert (started.status, shown.status) == (500, 500)
    assert "That was our fault, not yours." in shown.page
