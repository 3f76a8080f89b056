"""Services that do not answer: nobody guesses, nothing is lost."""

from __future__ import annotations

import pytest

from pausepoint.domain.calls import due_at
from pausepoint.errors import Unavailable
from pausepoint.models.scripted import ScriptedModel
from tests.support.agents import Killed, World, approve, asked, die, statuses
from tests.support.tools import Files

DELETE_A, SEND = ("delete", {"path": "a"}), ("send", {"to": "maria"})


def test_case_24_a_notice_that_cannot_be_sent_is_not_lost_and_hurts_nobody() -> None:
    world, files, model = World(), Files(), ScriptedModel([[DELETE_A, SEND], "Done."])
    world.mailbox.failures = 1
    paused = world.agent(model, files.all).run("Delete a")
    call = world.store.call(paused.session_id, "c2-0")
    assert (paused.status, call.notify, due_at(call)) == ("paused", "due", call.requested_at)
    assert world.agent(model, files.all).resume(paused.session_id, approve("c2-0")).status == "completed"


def test_a_notice_that_was_sent_is_not_due_any_more() -> None:
    world, files = World(), Files()
    paused = world.agent([[DELETE_A]], files.all).run("Delete a")
    call = world.store.call(paused.session_id, "c2-0")
    assert (call.notify, due_at(call)) == ("sent", call.expires_at)


def test_case_38_a_wake_up_that_fails_leaves_the_decision_visible_and_the_next_click_wakes() -> None:
    world, files, model = World(), Files(), ScriptedModel([[DELETE_A], "Gone."])
    paused = world.agent(model, files.all).run("Delete a")
    world.queue.failures = 1
    world.press(paused.session_id, "c2-0", "approved")
    call = world.store.call(paused.session_id, "c2-0")
    assert (call.status, world.queue.woken) == ("approved", [])
    assert due_at(call) == world.clock.now()
    assert world.press(paused.session_id, "c2-0", "approved").already
    assert world.queue.woken == [paused.session_id]
    assert world.agent(model, files.all).resume(paused.session_id).status == "completed"


def test_case_38_deciding_again_through_resume_drives_the_session_too() -> None:
    world, files, model = World(), Files(), ScriptedModel([[DELETE_A], "Gone."])
    paused = world.agent(model, files.all).run("Delete a")
    world.store.after("decide", die)
    with pytest.raises(Killed):
        world.agent(model, files.all).resume(paused.session_id, approve("c2-0"))
    assert world.agent(model, files.all).resume(paused.session_id, approve("c2-0")).status == "completed"
    assert files.entered("delete") == ["a"]


@pytest.mark.parametrize("when", ["before", "after"])
def test_the_end_of_a_call_is_written_although_the_table_does_not_answer_at_first(when: str) -> None:
    world, files, model = World(), Files(), ScriptedModel([[DELETE_A], "Gone."])
    paused = world.agent(model, files.all).run("Delete a")

    def lose() -> None:
        raise Unavailable("no answer")

    getattr(world.store, when)("commit", lose)
    done = world.agent(model, files.all).resume(paused.session_id, approve("c2-0"))
    assert (done.status, statuses(done), files.entered("delete")) == ("completed", {"c2-0": "succeeded"}, ["a"])
    assert [event.type for event in done.session.events].count("tool_result") == 1
    assert asked(model) == 2


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_claim_whose_answer_is_lost_enters_no_tool(when: str) -> None:
    """Whether it was written is not known: entering might be the second time."""
    world, files, model = World(), Files(), ScriptedModel([[DELETE_A], "Gone."])
    paused = world.agent(model, files.all).run("Delete a")

    def lose() -> None:
        raise Unavailable("no answer")

    getattr(world.store, when)("claim", lose)
    with pytest.raises(Unavailable):
        world.agent(model, files.all).resume(paused.session_id, approve("c2-0"), context=world.invocation(60))
    assert files.entries == []
    world.clock.advance(minutes=2)
    world.agent(model, files.all).resume(paused.session_id)
    assert files.entered("delete") == (["a"] if when == "before" else [])
