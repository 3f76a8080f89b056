"""What a round of the sweeper does with each kind of row that is overdue, and what it leaves alone."""

from __future__ import annotations

from datetime import timedelta

import pytest

from pausepoint.domain.canonical import sha256_hex
from pausepoint.runtime.cancelling import cancel
from pausepoint.runtime.notices import REMINDER_SUBJECT, SUBJECT
from tests.support.agents import die, reject
from tests.support.recovery import DELETE, Fragile, Recovery
from tests.support.tools import Files

SEND = ("send", {"to": "maria"})


def recovery(*turns: object, **options: object) -> Recovery:
    return Recovery(turns or [[DELETE], "Done."], Files().all, **options)  # type: ignore[arg-type]


def test_nothing_to_do_is_nothing_done() -> None:
    world = recovery()
    assert world.sweep() == {}
    session_id = world.started()
    before = world.session(session_id)
    assert world.pass_time(60) == {}
    assert world.session(session_id) == before


def test_what_fell_due_a_moment_ago_is_left_to_those_who_are_at_it() -> None:
    world = recovery()
    session_id = world.started()
    world.press(session_id, "c2-0", "approved")
    world.clock.advance(seconds=29)
    assert world.sweep() == {}
    world.clock.advance(seconds=2)
    assert world.sweep() == {"Woken": 1}


@pytest.mark.parametrize("verdict", ["approved", "rejected"])
def test_r48_a_decision_whose_wake_up_was_lost_is_acted_on(verdict: str) -> None:
    world = recovery()
    session_id = world.started()
    world.press(session_id, "c2-0", verdict)  # type: ignore[arg-type]
    world.queue.woken.clear()
    assert world.pass_time(1) == {"Woken": 1}
    assert world.session(session_id).head.status == "completed"
    assert world.pass_time(3) == {}


def test_case_45_a_call_that_nobody_decided_expires_and_the_model_reads_so_and_goes_on() -> None:
    world = recovery(approval_time=timedelta(hours=1))
    session_id = world.started()
    assert world.pass_time(59) == {}
    assert world.pass_time(3) == {"Expired": 1}
    session = world.session(session_id)
    assert (session.calls["c2-0"].status, session.head.status, session.output) == ("expired", "completed", "Done.")
    result = session.results["c2-0"]
    assert (result.status, result.entered) == ("error", False)
    assert result.text == "Not run: nobody decided in time, so the request expired."
    assert world.pass_time(120) == {}


def test_case_45_an_expired_call_whose_wake_up_was_lost_is_answered_later() -> None:
    world = recovery(approval_time=timedelta(hours=1))
    session_id = world.started()
    world.clock.advance(minutes=61)
    assert world.sweep() == {"Expired": 1}
    world.queue.woken.clear()
    world.pass_time(3)
    assert world.session(session_id).head.status == "completed"


def test_case_45_one_of_two_calls_expires_and_the_other_was_decided() -> None:
    world = recovery([DELETE, ("delete", {"path": "b"})], "Done.", approval_time=timedelta(hours=1))
    session_id = world.started()
    world.press(session_id, "c2-1", "approved")
    world.deliver()
    assert world.session(session_id).head.status == "paused"
    world.pass_time(63)
    session = world.session(session_id)
    assert {call_id: result.status for call_id, result in session.results.items()} == {
        "c2-0": "error",
        "c2-1": "success",
    }
    assert session.head.status == "completed"


def test_r47_a_lost_notice_gets_another_link_and_the_old_one_stays_valid() -> None:
    world = recovery()
    world.mailbox.failures = 1
    session_id = world.started()
    assert world.mailbox.sent == []
    assert world.pass_time(1) == {"Notified": 1}
    (notice,) = world.mailbox.sent
    assert (notice.subject, world.call(session_id).notify) == (SUBJECT, "sent")
    assert world.call(session_id).token_hashes == (sha256_hex("token-1"), sha256_hex("token-2"))
    assert world.pass_time(60) == {}
    world.press(session_id, "c2-0", "approved", token="token-1")  # whose mail was sent after all
    world.deliver()
    assert world.session(session_id).head.status == "completed"


def test_case_24_a_process_that_dies_before_its_notice_is_made_up_for() -> None:
    world = recovery()
    world.store.after("commit", die)
    session_id = world.started()
    assert (world.session(session_id).head.status, world.mailbox.sent) == ("paused", [])
    assert world.pass_time(1) == {"Notified": 1}
    world.press(session_id, "c2-0", "approved")
    world.deliver()
    assert world.session(session_id).head.status == "completed"


def test_i11_however_long_the_topic_is_out_the_approver_is_told_in_the_end() -> None:
    world = recovery()
    world.mailbox.failures = 40
    session_id = world.started()
    world.pass_time(24 * 60 - 1)
    (notice,) = world.mailbox.sent
    assert notice.call_id == "c2-0"
    world.press(session_id, "c2-0", "approved")
    world.deliver()
    assert world.session(session_id).head.status == "completed"


def test_a_reminder_goes_out_once_with_a_link_of_its_own() -> None:
    world = recovery(reminder=timedelta(minutes=30))
    session_id = world.started()
    assert world.pass_time(30) == {}
    assert world.pass_time(24 * 60 - 32) == {"Reminded": 1}
    assert [notice.subject for notice in world.mailbox.sent] == [SUBJECT, REMINDER_SUBJECT]
    assert world.call(session_id).reminded
    for token in ("token-1", "token-2"):
        assert sha256_hex(token) in world.call(session_id).token_hashes
    assert world.pass_time(10)["Expired"] == 1


def test_a_reminder_follows_a_notice_that_the_sweeper_had_to_send() -> None:
    world = recovery(reminder=timedelta(minutes=30))
    world.mailbox.failures = 1
    world.started()
    assert world.pass_time(10) == {"Notified": 1}
    assert world.pass_time(60) == {"Reminded": 1}


def test_nobody_is_reminded_of_what_was_decided_or_has_expired() -> None:
    world = recovery(reminder=timedelta(minutes=30), approval_time=timedelta(minutes=20))
    world.started()
    assert world.pass_time(60) == {"Expired": 1}
    other = recovery(reminder=timedelta(minutes=30))
    other.press(other.started(), "c2-0", "rejected")
    other.deliver()
    assert other.pass_time(60) == {}
    assert len(world.mailbox.sent) == len(other.mailbox.sent) == 1


def test_r48_a_session_whose_runner_died_is_taken_up_again() -> None:
    world = recovery([SEND], "Done.")
    world.store.after("commit", die)  # the turn is stored, nothing of it has run
    session_id = world.started()
    world.pass_time(1)  # the lease is still in force
    assert world.session(session_id).results == {}
    world.pass_time(2)
    assert world.session(session_id).head.status == "completed"
    assert world.pass_time(3) == {}


def test_a_session_that_was_handed_over_and_whose_wake_up_was_lost_is_taken_up_again() -> None:
    world = recovery("Hello.")
    world.queue.failures = 1
    session_id = world.worker.run("Hi", context=world.invocation(60, hand_over=0)).session_id
    assert world.pass_time(1) == {"Woken": 1}
    assert world.session(session_id).output == "Hello."


def test_a_session_at_which_somebody_is_inside_a_tool_is_not_woken() -> None:
    fragile = Fragile()
    world = Recovery([[DELETE], "Done."], [fragile.tool])
    session_id = world.started()
    world.press(session_id, "c2-0", "approved")

    def another_comes() -> None:
        world.queue.woken.clear()
        world.clock.advance(seconds=40)
        assert world.sweep() == {}

    fragile.deaths, fragile.meanwhile = 0, another_comes
    world.deliver()
    assert (fragile.entries, world.session(session_id).head.status) == (["a"], "completed")


@pytest.mark.parametrize("status", ["completed", "cancelled", "failed", "paused"])
def test_a_session_that_rests_is_left_alone(status: str) -> None:
    turns = {"completed": ["Hello."], "failed": []}.get(status, [[DELETE]])
    world = Recovery(turns, Files().all, approval_time=timedelta(days=20))
    session_id = world.started()
    if status == "cancelled":
        cancel(world.services, session_id, by="maria")
    before = world.session(session_id)
    assert before.head.status == status
    assert world.pass_time(24, minutes=60) == {}
    assert world.session(session_id) == before


def test_a_rejected_call_whose_runner_died_is_answered_once() -> None:
    world = recovery()
    session_id = world.started()
    world.store.after("decide", die)
    world.resumed(session_id, reject("c2-0"))
    world.pass_time(3)
    assert world.session(session_id).head.status == "completed"
    assert world.types(session_id).count("tool_result") == 1
