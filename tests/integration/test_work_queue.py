"""R40: wake-ups carry ids only, may come never, once or often, in any order, and one execution comes of it."""

from __future__ import annotations

import json

import pytest

from tests.support.clerk import desk
from tests.support.deployment import SHRED, Deployment
from tests.support.said import Said
from tests.support.wire import Wire


def wake_up(session_id: str) -> str:
    return json.dumps({"session_id": session_id})


def test_r40_a_queue_message_is_a_session_id_and_nothing_else(deployment: Deployment) -> None:
    link = deployment.paused()
    deployment.post(link, reason="because")

    (message,) = deployment.wakeups()

    assert json.loads(message["Body"]) == {"session_id": link.session_id}
    assert "MessageAttributes" not in message


@pytest.mark.parametrize("times", [1, 2, 5])
def test_r40_however_often_a_wake_up_comes_the_call_runs_once(deployment: Deployment, times: int) -> None:
    link = deployment.paused()
    deployment.post(link)

    for _ in range(times):
        assert deployment.work(wake_up(link.session_id)) == []
    assert deployment.work(*[wake_up(link.session_id)] * times) == []

    assert len(desk.entered) == 1
    assert len(desk.asked) == 2
    assert deployment.session(link.session_id)["status"] == "completed"


def test_r40_without_a_wake_up_nothing_runs_and_nothing_is_lost(deployment: Deployment) -> None:
    link = deployment.paused()
    deployment.post(link)
    deployment.wakeups()  # lost

    assert desk.entered == []
    (waiting,) = deployment.session(link.session_id)["pending_calls"]
    assert (waiting["status"], waiting["decision"]["verdict"]) == ("approved", "approved")
    assert deployment.call(link)["due_kind"]["S"] == "call"  # somebody will find it
    assert deployment.resume(link.session_id).json["status"] == "completed"
    assert len(desk.entered) == 1


def test_r40_a_wake_up_before_the_decision_does_nothing(deployment: Deployment) -> None:
    link = deployment.paused()

    assert deployment.work(wake_up(link.session_id), wake_up(link.session_id)) == []

    assert (desk.entered, deployment.status(link)) == ([], "pending")
    assert deployment.session(link.session_id)["status"] == "paused"
    assert deployment.notices() == []


def test_r40_wake_ups_of_two_sessions_in_any_order_run_each_call_once(deployment: Deployment) -> None:
    first = deployment.paused([("shred", {"path": "first"})])
    second = deployment.paused([("shred", {"path": "second"})])
    for link in (first, second):
        deployment.post(link)
    desk.script("Done.", "Done.")

    one, two = wake_up(first.session_id), wake_up(second.session_id)
    assert deployment.work(two, one, one, two, two) == []

    assert [arguments["path"] for _, arguments in desk.entered] == ["second", "first"]


def test_r40_while_another_invocation_holds_the_session_a_wake_up_leaves_it_alone(deployment: Deployment) -> None:
    link = deployment.paused()
    deployment.post(link)
    deployment.occupy(link.session_id)

    assert deployment.work(wake_up(link.session_id)) == []
    assert desk.entered == []


def test_only_the_message_that_failed_comes_again(deployment: Deployment, wire: Wire) -> None:
    first, second = (
        deployment.paused([("shred", {"path": "first"})]),
        deployment.paused([("shred", {"path": "second"})]),
    )
    for link in (first, second):
        deployment.post(link)
    desk.script("Done.", "Done.")
    wire.fail("dynamodb.UpdateItem", times=4)  # all attempts at the first write

    assert deployment.work(wake_up(first.session_id), wake_up(second.session_id)) == ["message-0"]

    assert [arguments["path"] for _, arguments in desk.entered] == ["second"]
    assert deployment.work(wake_up(first.session_id)) == []
    assert [arguments["path"] for _, arguments in desk.entered] == ["second", "first"]


@pytest.mark.parametrize(
    "body",
    [
        "",
        "not JSON",
        "[]",
        "{}",
        "null",
        '{"session_id": 1}',
        '{"session_id": ""}',
        wake_up("a" * 26),
        wake_up("a" * 5000),
    ],
)
def test_a_message_that_means_no_session_is_dropped_with_a_word_and_the_others_go_on(
    deployment: Deployment, said: Said, body: str
) -> None:
    link = deployment.paused()
    deployment.post(link)

    assert deployment.work(body, wake_up(link.session_id)) == []

    assert len(desk.entered) == 1
    (line,) = said.lines()
    assert (line["message"], line["message_id"]) == ("wake-up dropped", "message-0")


@pytest.mark.parametrize("odd", ["", "A" * 26, "a" * 5000, "META"])
def test_a_message_whose_id_no_session_can_have_costs_no_look(undisturbed: Deployment, wire: Wire, odd: str) -> None:
    assert undisturbed.work(wake_up(odd)) == []
    assert wire.sent == []


def test_a_message_that_brings_more_than_an_id_is_read_for_its_id_only(deployment: Deployment) -> None:
    link = deployment.paused()
    body = {"session_id": link.session_id, "decision": "approved", "call_id": link.call_id}

    assert deployment.work(json.dumps(body)) == []
    assert (deployment.status(link), desk.entered) == ("pending", [])


def test_case_44_what_is_not_retry_safe_runs_once_although_a_later_turn_is_approved(deployment: Deployment) -> None:
    link = deployment.paused([("stamp", {"path": "a.txt"})], SHRED, "Done.")
    assert [name for name, _ in desk.entered] == ["stamp"]

    deployment.post(link)
    deployment.deliver()

    assert [name for name, _ in desk.entered] == ["stamp", "shred"]
