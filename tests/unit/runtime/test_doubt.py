"""A process that dies inside a tool which must not simply run again: in doubt, asked about, never guessed."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from pausepoint import DecisionRequest
from pausepoint.domain.calls import Answer
from pausepoint.errors import AlreadyDecided, CallsPending, InvalidInput
from pausepoint.runtime.cancelling import cancel
from pausepoint.runtime.notices import DOUBT_SUBJECT
from tests.support.agents import Killed, approve, results_in
from tests.support.recovery import DELETE, Fragile, Recovery
from tests.support.tools import Files

ANSWERS: tuple[Answer, ...] = ("happened", "did_not_happen", "run_again")


def recovery(fragile: Fragile, *turns: Any, **options: Any) -> Recovery:
    return Recovery(turns or ([DELETE], "Done."), [fragile.tool, *Files().all[1:]], **options)


@pytest.mark.parametrize("gated", [True, False])
def test_case_39_i1_a_call_that_was_cut_off_is_in_doubt_and_is_not_entered_again(gated: bool) -> None:
    fragile = Fragile(requires_confirmation=gated)
    world = recovery(fragile)
    session_id = world.in_doubt()
    world.pass_time(48, minutes=60)
    call, session = world.call(session_id), world.session(session_id)
    assert (fragile.entries, call.status, session.head.status) == (["a"], "in_doubt", "paused")
    assert (session.results, len(world.model.requests)) == ({}, 1)
    assert [call.call_id for call in session.waiting_calls] == ["c2-0"]
    assert world.pass_time(24, minutes=60) == {}


@pytest.mark.parametrize("gated", [True, False])
def test_a_person_is_asked_once_by_a_link_of_its_own_without_words_that_claim_too_much(gated: bool) -> None:
    world = recovery(Fragile(requires_confirmation=gated))
    session_id = world.in_doubt()
    notice = world.mailbox.sent[-1]
    assert (notice.subject, len(world.mailbox.sent)) == (DOUBT_SUBJECT, 1 + gated)
    assert f"/approvals/{session_id}/c2-0?t=" in notice.body
    assert "Nobody knows" in notice.body
    assert "approved" not in notice.body
    assert "expires" not in notice.body.replace("Expires:  it waits for you", "")


def test_nothing_is_in_doubt_before_its_time_is_over() -> None:
    fragile = Fragile()
    world = recovery(fragile)
    session_id = world.started()
    world.press(session_id, "c2-0", "approved")
    world.deliver()
    world.clock.advance(seconds=59)
    assert world.sweep() == {}
    assert world.call(session_id).status == "executing"
    with pytest.raises(InvalidInput, match="not in doubt"):
        world.say(session_id, "c2-0", "happened")


@pytest.mark.parametrize("gated", [True, False])
def test_case_39_a_retry_safe_call_that_was_cut_off_runs_again_with_the_same_key(gated: bool) -> None:
    fragile = Fragile(requires_confirmation=gated, retry_safe=True, deaths=2)
    world = recovery(fragile)
    session_id = world.started()
    if gated:
        world.press(session_id, "c2-0", "approved")
        world.deliver()
    world.pass_time(12)
    session = world.session(session_id)
    assert (session.head.status, session.results["c2-0"].text) == ("completed", "Deleted a.")
    assert fragile.keys == [f"{session_id}:c2-0"] * 3
    assert world.types(session_id).count("tool_result") == 1
    assert len(world.mailbox.sent) == gated


@pytest.mark.parametrize("gated", [True, False])
@pytest.mark.parametrize(
    ("answer", "status", "words"),
    [
        ("happened", "success", "It was checked: the effect did happen. Its result is lost."),
        ("did_not_happen", "error", "It was checked: the effect did not happen."),
    ],
)
def test_an_answer_is_passed_on_and_the_session_goes_on(gated: bool, answer: Answer, status: str, words: str) -> None:
    fragile = Fragile(requires_confirmation=gated)
    world = recovery(fragile)
    session_id = world.in_doubt()
    world.say(session_id, "c2-0", answer, reason="looked")
    world.deliver()
    session = world.session(session_id)
    assert (session.head.status, session.output, fragile.entries) == ("completed", "Done.", ["a"])
    ((_, told, text),) = results_in(world.model.requests[1])
    assert (told, session.results["c2-0"].entered) == (status, True)
    assert text.endswith(words)
    expected = "succeeded" if answer == "happened" else "failed"
    assert (session.calls["c2-0"].status, session.calls["c2-0"].told) == (expected, True)


def test_case_29_what_happened_with_edited_arguments_is_told_as_edited() -> None:
    fragile = Fragile()
    world = recovery(fragile)
    session_id = world.started()
    world.edit(session_id, "c2-0", {"path": "b"})
    world.pass_time(3)
    world.say(session_id, "c2-0", "happened")
    world.deliver()
    ((_, _, text),) = results_in(world.model.requests[1])
    assert 'from {"path":"a"} to {"path":"b"}' in text
    assert text.endswith("Its result is lost.")


@pytest.mark.parametrize("standing", ANSWERS)
@pytest.mark.parametrize("later", ANSWERS)
def test_the_first_answer_stands(standing: Answer, later: Answer) -> None:
    world = recovery(Fragile())
    session_id = world.in_doubt()
    assert not world.say(session_id, "c2-0", standing).already
    if later == standing:
        assert world.say(session_id, "c2-0", later).already
    else:
        with pytest.raises(AlreadyDecided):
            world.say(session_id, "c2-0", later)
    resolution = world.call(session_id).resolution
    assert resolution is not None
    assert resolution.answer == standing


@pytest.mark.parametrize("answer", ANSWERS)
def test_r48_an_answer_whose_wake_up_was_lost_is_acted_on(answer: Answer) -> None:
    world = recovery(Fragile())
    session_id = world.in_doubt()
    world.say(session_id, "c2-0", answer)
    world.queue.woken.clear()
    world.pass_time(3)
    assert world.session(session_id).head.status == ("paused" if answer == "run_again" else "completed")


def test_an_answer_comes_through_the_api_too_and_edits_nothing() -> None:
    world = recovery(Fragile())
    session_id = world.in_doubt()
    with pytest.raises(InvalidInput) as caught:
        world.resumed(session_id, [DecisionRequest("c2-0", "run_again", arguments={"path": "b"})])
    assert caught.value.field == "decisions.0.arguments"
    done = world.resumed(session_id, [DecisionRequest("c2-0", "happened")])
    assert done is not None
    assert done.status == "completed"


@pytest.mark.parametrize("answer", ANSWERS)
def test_case_04_an_answer_to_a_call_that_waits_for_an_approval_is_refused(answer: Answer) -> None:
    world = recovery(Fragile())
    session_id = world.started()
    with pytest.raises(InvalidInput) as caught:
        world.resumed(session_id, [DecisionRequest("c2-0", answer)])
    assert caught.value.field == "decisions.0.decision"
    with pytest.raises(InvalidInput, match="not in doubt"):
        world.say(session_id, "c2-0", answer)
    assert world.call(session_id).status == "pending"


def test_case_04_approving_a_call_in_doubt_does_nothing() -> None:
    fragile = Fragile()
    world = recovery(fragile)
    session_id = world.in_doubt()
    before = world.session(session_id)
    world.press(session_id, "c2-0", "approved")
    world.deliver()
    world.resumed(session_id, approve("c2-0"))
    with pytest.raises(AlreadyDecided):
        world.press(session_id, "c2-0", "rejected")
    after = world.session(session_id)
    assert (after.events, after.calls, fragile.entries) == (before.events, before.calls, ["a"])


def test_case_26_a_message_meanwhile_is_refused_and_names_the_call() -> None:
    world = recovery(Fragile())
    session_id = world.in_doubt()
    with pytest.raises(CallsPending) as caught:
        world.worker.run("And?", session_id=session_id)
    assert "c2-0" in str(caught.value)


def test_case_48_a_session_that_was_cancelled_while_in_doubt_takes_the_answer_and_stays_ended() -> None:
    fragile = Fragile()
    world = recovery(fragile)
    session_id = world.in_doubt()
    cancel(world.services, session_id, by="maria")
    assert world.call(session_id).status == "in_doubt"
    world.say(session_id, "c2-0", "happened")
    world.deliver()
    session = world.session(session_id)
    assert (session.head.status, session.calls["c2-0"].status) == ("cancelled", "succeeded")
    assert (fragile.entries, len(world.model.requests)) == (["a"], 1)


def test_a_session_that_was_cancelled_while_its_tool_ran_still_asks_a_person() -> None:
    """The effect may have happened: ending the conversation does not make that known."""
    fragile = Fragile()
    world = recovery(fragile)
    session_id = world.started()
    world.press(session_id, "c2-0", "approved")
    fragile.meanwhile = lambda: cancel(world.services, session_id, by="maria")
    world.deliver()
    world.pass_time(10)
    assert world.call(session_id).status == "in_doubt"
    assert world.mailbox.sent[-1].subject == DOUBT_SUBJECT
    world.say(session_id, "c2-0", "did_not_happen")
    world.pass_time(10)
    assert world.session(session_id).head.status == "cancelled"
    assert world.pass_time(20, minutes=60) == {}


def test_a_lost_notice_of_a_doubt_is_made_up_for() -> None:
    world = recovery(Fragile())
    session_id = world.started()
    world.press(session_id, "c2-0", "approved")
    world.deliver()
    world.mailbox.failures = 1
    world.pass_time(6)
    assert [notice.subject for notice in world.mailbox.sent[1:]] == [DOUBT_SUBJECT]
    world.say(session_id, "c2-0", "happened")
    world.deliver()
    assert world.session(session_id).head.status == "completed"


def test_the_old_approval_link_answers_too() -> None:
    world = recovery(Fragile())
    session_id = world.started()
    old = world.token(session_id, "c2-0")
    world.press(session_id, "c2-0", "approved")
    world.deliver()
    world.pass_time(3)
    world.token = lambda *_: old  # type: ignore[method-assign]
    assert not world.say(session_id, "c2-0", "happened").already


def test_i6_other_calls_of_the_turn_run_and_are_told_once_whatever_becomes_of_the_doubtful_one() -> None:
    fragile = Fragile()
    turn = [("read", {"path": "b"}), DELETE, ("send", {"to": "maria"})]
    files = Files()
    world = Recovery([turn, "Done."], [fragile.tool, files.read, files.send])
    session_id = world.in_doubt("c2-1")
    assert set(world.session(session_id).results) == {"c2-0", "c2-2"}
    world.say(session_id, "c2-1", "did_not_happen")
    world.deliver()
    results = results_in(world.model.requests[1])
    assert [(tool_call_id, status) for tool_call_id, status, _ in results] == [
        ("toolu_1_0", "success"),
        ("toolu_1_1", "error"),
        ("toolu_1_2", "success"),
    ]
    assert (files.entered("send"), fragile.entries) == (["maria"], ["a"])
    assert world.types(session_id).count("tool_result") == 3


def test_r51_a_session_that_failed_with_a_call_in_doubt_still_asks_and_can_be_continued() -> None:
    """Each process that asks the tool's own check dies of it."""
    fragile = Fragile(found=True)
    world = recovery(fragile, [DELETE], "Done.", approval_time=timedelta(days=7))
    fragile.found = Killed()
    session_id = world.started()
    world.press(session_id, "c2-0", "approved")
    world.deliver()
    world.pass_time(24 * 60)
    session = world.session(session_id)
    assert (session.head.status, session.calls["c2-0"].status) == ("failed", "in_doubt")
    assert world.mailbox.sent[-1].subject == DOUBT_SUBJECT
    world.say(session_id, "c2-0", "happened")
    assert world.worker.run("Go on", session_id=session_id).status == "completed"
