"""Running a doubtful call again: as another call, which nobody has approved yet."""

from __future__ import annotations

import pytest

from pausepoint.domain.calls import Answer
from pausepoint.domain.canonical import sha256_hex
from pausepoint.domain.events import CallReissued
from pausepoint.runtime.notices import SUBJECT
from tests.support.agents import die, results_in
from tests.support.recovery import DELETE, Fragile, Recovery
from tests.support.tools import Files


def reissued(fragile: Fragile, *, edited: bool = False) -> tuple[Recovery, str, str]:
    """Return a session whose doubtful call is to run again, and the id of the call that took its place."""
    world = Recovery([[DELETE], "Done."], [fragile.tool])
    session_id = world.started()
    if edited:
        world.edit(session_id, "c2-0", {"path": "b"})
    elif world.call(session_id).status == "pending":
        world.press(session_id, "c2-0", "approved")
        world.deliver()
    world.pass_time(3)
    world.say(session_id, "c2-0", "run_again", reason="the file is still there")
    world.deliver()
    (event,) = [event for event in world.session(session_id).events if isinstance(event, CallReissued)]
    return world, session_id, event.reissued_as


@pytest.mark.parametrize("gated", [True, False])
def test_i3_it_asks_for_an_approval_of_its_own_under_another_id_and_link(gated: bool) -> None:
    fragile = Fragile(requires_confirmation=gated)
    world, session_id, again = reissued(fragile)
    first, second = world.call(session_id), world.call(session_id, again)
    assert (first.status, second.status, fragile.entries) == ("failed", "pending", ["a"])
    assert second.gated
    assert (second.arguments, second.digest, second.decision) == (first.arguments, first.digest, None)
    assert not set(first.token_hashes) & set(second.token_hashes)
    assert second.expires_at > world.clock.now()
    notice = world.mailbox.sent[-1]
    assert (notice.subject, notice.call_id) == (SUBJECT, again)
    world.pass_time(60)
    assert (fragile.entries, world.session(session_id).head.status) == (["a"], "paused")


def test_i1_approved_it_runs_once_with_a_key_of_its_own_and_answers_the_turn() -> None:
    fragile = Fragile()
    world, session_id, again = reissued(fragile)
    world.press(session_id, again, "approved")
    world.deliver()
    assert fragile.entries == ["a", "a"]
    assert fragile.keys == [f"{session_id}:c2-0", f"{session_id}:{again}"]
    assert results_in(world.model.requests[1]) == [("toolu_1_0", "success", "Deleted a.")]
    session = world.session(session_id)
    assert (session.head.status, set(session.results)) == ("completed", {"c2-0"})
    assert world.pass_time(60) == {}


def test_rejected_it_does_not_run_and_the_turn_is_answered() -> None:
    fragile = Fragile()
    world, session_id, again = reissued(fragile)
    world.press(session_id, again, "rejected", reason="enough")
    world.deliver()
    assert fragile.entries == ["a"]
    ((tool_call_id, status, text),) = results_in(world.model.requests[1])
    assert (tool_call_id, status) == ("toolu_1_0", "error")
    assert text.endswith("Their reason: enough")


def test_case_45_undecided_it_expires() -> None:
    fragile = Fragile()
    world, session_id, again = reissued(fragile)
    world.pass_time(25, minutes=60)
    session = world.session(session_id)
    assert (session.calls[again].status, session.head.status, fragile.entries) == ("expired", "completed", ["a"])


def test_the_link_of_the_first_call_decides_nothing_about_the_second() -> None:
    world, session_id, again = reissued(Fragile())
    for notice in world.mailbox.sent[:-1]:
        assert notice.call_id == "c2-0"
    known = world.call(session_id, again).token_hashes
    assert sha256_hex(world.token(session_id, "c2-0")) not in known


def test_case_29_edited_arguments_are_kept_and_the_model_is_told_what_was_changed() -> None:
    fragile = Fragile()
    world, session_id, again = reissued(fragile, edited=True)
    call = world.call(session_id, again)
    assert call.arguments == '{"path":"b"}'
    world.press(session_id, again, "approved")
    world.deliver()
    assert fragile.entries == ["b", "b"]
    ((_, _, text),) = results_in(world.model.requests[1])
    assert text.endswith("Deleted b.")
    assert 'from {"path":"a"} to {"path":"b"}' in text


def test_cut_off_again_it_is_in_doubt_again_and_can_be_run_a_third_time() -> None:
    fragile = Fragile(deaths=2)
    world, session_id, again = reissued(fragile)
    world.press(session_id, again, "approved")
    world.deliver()
    world.pass_time(3)
    assert world.call(session_id, again).status == "in_doubt"
    world.say(session_id, again, "run_again")
    world.deliver()
    (third,) = [call for call in world.session(session_id).waiting_calls if call.call_id != again]
    world.press(session_id, third.call_id, "approved")
    world.deliver()
    assert len(set(fragile.keys)) == len(fragile.entries) == 3
    assert results_in(world.model.requests[1]) == [("toolu_1_0", "success", "Deleted a.")]
    assert world.types(session_id).count("tool_result") == 1


@pytest.mark.parametrize("operation", ["commit", "lease", "mark_notified"])
@pytest.mark.parametrize("when", ["before", "after"])
def test_i6_however_its_process_dies_it_is_asked_for_once(when: str, operation: str) -> None:
    fragile = Fragile()
    world = Recovery([[DELETE], "Done."], [fragile.tool])
    session_id = world.in_doubt()
    world.say(session_id, "c2-0", "run_again")
    getattr(world.store, when)(operation, die)
    world.deliver()
    world.pass_time(10)
    (again,) = world.session(session_id).waiting_calls
    assert world.types(session_id).count("call_reissued") == 1
    world.press(session_id, again.call_id, "approved")
    world.deliver()
    assert (world.session(session_id).head.status, fragile.entries) == ("completed", ["a", "a"])


@pytest.mark.parametrize("answer", ["happened", "did_not_happen", "run_again"])
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("nth", range(2))
def test_i6_one_result_for_each_call_of_the_turn_wherever_the_answering_process_dies(
    nth: int, when: str, answer: Answer
) -> None:
    fragile, files = Fragile(), Files()
    turn = [("read", {"path": "b"}), DELETE, ("send", {"to": "maria"})]
    world = Recovery([turn, "Done.", "Done."], [fragile.tool, files.read, files.send])
    session_id = world.in_doubt("c2-1")
    world.say(session_id, "c2-1", answer)
    for _ in range(nth):
        world.store.before("commit", lambda: None)
    getattr(world.store, when)("commit", die)
    world.deliver()
    world.pass_time(10)
    if answer == "run_again":
        (again,) = world.session(session_id).waiting_calls
        world.press(session_id, again.call_id, "approved")
        world.pass_time(10)
    session = world.session(session_id)
    assert session.head.status == "completed"
    assert list(session.results) == ["c2-0", "c2-2", "c2-1"]
    assert world.types(session_id).count("tool_result") == 3
    assert world.types(session_id).count("doubt_resolved") == 1
    assert files.entered("send") == ["maria"]
