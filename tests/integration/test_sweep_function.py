"""functions/sweep: what a scheduled round finds in the table, does, and says."""

from __future__ import annotations

import json

import pytest

from pausepoint.bootstrap import application
from tests.support.clerk import desk
from tests.support.cut_off import age, cut_off
from tests.support.deployment import Deployment
from tests.support.said import Said
from tests.support.wire import Wire


def test_nothing_to_do_costs_two_queries_and_no_write(deployment: Deployment, wire: Wire) -> None:
    deployment.paused()
    wire.sent.clear()
    assert deployment.sweep() == {}
    assert wire.sent == ["dynamodb.Query", "dynamodb.Query"]


def test_r48_a_lost_wake_up_is_sent_again(deployment: Deployment) -> None:
    link = deployment.paused()
    deployment.post(link)
    deployment.wakeups()  # lost
    age(deployment)
    assert deployment.sweep() == {"Woken": 1}
    deployment.deliver()
    assert (deployment.session(link.session_id)["status"], len(desk.entered)) == ("completed", 1)


def test_r47_a_lost_notice_is_made_up_for_and_both_links_open_the_page(deployment: Deployment, wire: Wire) -> None:
    desk.script([("shred", {"path": "a.txt"})], "Done.")
    wire.fail("sns.Publish", times=4)
    session_id = deployment.start().json["session_id"]
    assert deployment.links() == []
    age(deployment)
    assert deployment.sweep() == {"Notified": 1}
    (link,) = deployment.links()
    assert link.session_id == session_id
    assert len(deployment.call(link)["token_hashes"]["L"]) == 2
    assert deployment.show(link).status == 200
    age(deployment)
    assert deployment.sweep() == {"Waiting": 1}
    assert deployment.links() == []


def test_case_45_an_expired_call_is_closed_and_the_model_reads_so(deployment: Deployment) -> None:
    link = deployment.paused()
    deployment.expire(link)
    age(deployment)
    assert deployment.sweep()["Expired"] == 1
    assert deployment.show(link).status == 410
    deployment.deliver()
    assert (deployment.session(link.session_id)["status"], desk.entered) == ("completed", [])
    (result,) = desk.asked[1].history[-1].results  # type: ignore[union-attr]
    assert result[1].text == "Not run: nobody decided in time, so the request expired."


def test_case_39_a_call_that_was_cut_off_is_put_in_doubt_and_asked_about(deployment: Deployment) -> None:
    link = deployment.paused()
    cut_off(deployment, link)
    assert deployment.sweep()["Doubted"] == 1
    assert deployment.status(link) == "in_doubt"
    assert deployment.links() == []  # a runner asks, after the tool's own check
    deployment.deliver()
    (asking,) = deployment.links()
    assert asking.token != link.token
    age(deployment)
    assert deployment.sweep() == {"Waiting": 1}
    assert len(desk.entered) == 1


def test_a_reminder_goes_out_once(deployment: Deployment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REMINDER_SECONDS", "60")
    application.cache_clear()
    link = deployment.paused()
    deployment.change(link, requested_at="2026-01-01T00:00:00.000000Z")
    age(deployment)
    assert deployment.sweep() == {"Reminded": 1}
    (notice,) = deployment.notices()
    assert notice["Subject"] == "Pausepoint: a tool call still waits for your decision"
    age(deployment)
    assert deployment.sweep() == {"Waiting": 1}
    assert deployment.notices() == []


def test_a_table_that_does_not_answer_fails_the_round_and_the_next_one_comes(
    deployment: Deployment, wire: Wire
) -> None:
    wire.fail("dynamodb.Query", times=4)
    with pytest.raises(Exception, match="does not answer"):
        deployment.sweep()
    assert deployment.sweep() == {}


def test_a_row_that_nobody_can_read_does_not_stop_the_others(deployment: Deployment, said: Said) -> None:
    bad, good = deployment.paused(), deployment.paused()
    for link in (bad, good):
        deployment.post(link)
    deployment.wakeups()
    deployment.change(bad, requested_at="not a moment")
    age(deployment)
    assert deployment.sweep() == {"NotSwept": 1, "Woken": 1}
    assert deployment.sweep() == {}  # it went to the back
    assert [line["message"] for line in said.lines() if line["level"] == "WARNING"] == ["row not swept"]


def test_i9_what_it_says_and_queues_holds_no_secret(deployment: Deployment, said: Said, wire: Wire) -> None:
    desk.script([("shred", {"path": "a.txt"})], "Done.")
    wire.fail("sns.Publish", times=4)
    deployment.start()
    age(deployment)
    deployment.sweep()
    (link,) = deployment.links()
    deployment.post(link)
    deployment.wakeups()
    age(deployment)
    deployment.sweep()
    assert link.token not in said.everything()
    assert link.token not in json.dumps([message["Body"] for message in deployment.wakeups()])
    assert link.token not in repr(deployment.table())
