"""Saying something more to a session: when it rests, and when it does not."""

from __future__ import annotations

import pytest

from pausepoint.domain.events import LogEntry
from pausepoint.errors import CallsPending, SessionBusy, SessionEnded
from pausepoint.models.scripted import ScriptedModel
from pausepoint.runtime.cancelling import cancel
from tests.support.agents import Killed, World, approve, asked, die
from tests.support.sessions import turn
from tests.support.tools import Files

DELETE_A, READ = ("delete", {"path": "a"}), ("read", {"path": "c"})


def test_case_26_a_message_to_a_paused_session_is_refused_and_names_the_calls() -> None:
    world, files = World(), Files()
    model = ScriptedModel([[DELETE_A, READ], "Done.", "Yes."])
    paused = world.agent(model, files.all).run("Delete a")
    before = world.session(paused.session_id)
    with pytest.raises(CallsPending) as refusal:
        world.agent(model, files.all).run("yes, do it", session_id=paused.session_id)
    assert [call.call_id for call in refusal.value.calls] == ["c2-0"]
    assert "c2-0 (delete, pending)" in str(refusal.value)
    assert world.session(paused.session_id) == before
    assert files.entered("delete") == []
    world.agent(model, files.all).resume(paused.session_id, approve("c2-0"))
    assert world.agent(model, files.all).run("And now?", session_id=paused.session_id).output == "Yes."


def test_case_26_a_decided_call_that_has_not_run_yet_is_still_in_the_way() -> None:
    world, files, model = World(), Files(), ScriptedModel([[DELETE_A]])
    paused = world.agent(model, files.all).run("Delete a")
    world.press(paused.session_id, "c2-0", "approved")
    with pytest.raises(CallsPending):
        world.agent(model, files.all).run("Hello?", session_id=paused.session_id)


def test_case_26_a_session_that_pauses_between_the_look_and_the_lease_takes_no_message_either() -> None:
    """The message's runner sees a session at rest; by the time it gets the lease, a call waits."""
    world, files = World(), Files()
    model = ScriptedModel([[DELETE_A], "Gone."])
    handed = world.agent(model, files.all).run("Delete a", context=world.invocation(60, hand_over=0))
    world.store.after("load", lambda: world.agent(model, files.all).resume(handed.session_id))
    with pytest.raises(CallsPending):
        world.agent(model, files.all).run("Hello?", session_id=handed.session_id)
    session = world.session(handed.session_id)
    assert (session.head.status, session.head.lease) == ("paused", None)
    assert [event.type for event in session.events] == ["user_message", "assistant_turn"]
    assert world.agent(model, files.all).resume(handed.session_id, approve("c2-0")).status == "completed"


def test_a_message_to_a_running_session_is_refused() -> None:
    world, model = World(), ScriptedModel(["Hello.", "More."])
    refused: list[bool] = []

    def interrupt() -> None:
        (head,), _ = world.store.sessions(None, limit=1, before=None)
        with pytest.raises(SessionBusy):
            world.agent([]).run("Hurry", session_id=head.session_id)
        refused.append(True)

    world.store.before("commit", interrupt)
    done = world.agent(model).run("Hi")
    assert (refused, done.status, asked(model)) == ([True], "completed", 1)


def test_a_message_to_a_cancelled_session_is_refused() -> None:
    world = World()
    done = world.agent(["Hello."]).run("Hi")
    cancel(world.services, done.session_id, by="maria")
    with pytest.raises(SessionEnded):
        world.agent([]).run("More", session_id=done.session_id)


def test_a_message_continues_a_session_whose_runner_died_once_its_lease_is_over() -> None:
    world, files, model = World(), Files(), ScriptedModel([[READ], "Done."])
    world.store.after("commit", die)
    with pytest.raises(Killed):
        world.agent(model, files.all).run("Read c", context=world.invocation(60))
    (head,), _ = world.store.sessions(None, limit=1, before=None)
    with pytest.raises(SessionBusy):
        world.agent(model, files.all).run("Still there?", session_id=head.session_id)
    world.clock.advance(seconds=71)
    done = world.agent(model, files.all).run("Still there?", session_id=head.session_id)
    assert (done.status, files.entered("read")) == ("completed", ["c"])
    last = model.requests[-1].history[-1]
    assert getattr(last, "texts", None) == ("Still there?",)
    assert len(getattr(last, "results", ())) == 1


def test_a_message_that_loses_a_race_for_the_log_leaves_no_lease_behind() -> None:
    """A slow runner without a lease may still write its result just before the message is written."""
    world, files, model = World(), Files(), ScriptedModel(["Hello.", "More.", "Again."])
    done = world.agent(model, files.all).run("Hi")
    session_id = done.session_id

    def intrude() -> None:
        stored = world.store.memory.load(session_id)
        world.store.memory._put(stored.after(LogEntry(first=stored.next_seq, events=(turn(text="Late."),))))

    world.store.before("commit", intrude)
    with pytest.raises(SessionBusy):
        world.agent(model, files.all).run("More", session_id=session_id)
    assert world.session(session_id).head.lease is None
    assert world.agent(model, files.all).run("More", session_id=session_id).status == "completed"
