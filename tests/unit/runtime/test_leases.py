"""One runner at a time; whoever is refused loses nothing, and whoever comes late is not lost."""

from __future__ import annotations

from typing import Any

import pytest

from pausepoint import tool
from pausepoint.models.scripted import ScriptedModel
from pausepoint.runtime.ports import ModelReply, ModelRequest
from tests.support.agents import Killed, World, approve, asked, die, reject, results_in
from tests.support.tools import Files

READ, DELETE_A = ("read", {"path": "c"}), ("delete", {"path": "a"})


def test_a_lease_outlives_its_invocation_a_little() -> None:
    world, model = World(), ScriptedModel(["Hello."])
    world.store.before("commit", die)
    with pytest.raises(Killed):
        world.agent(model).run("Hi", idempotency_key="k", context=world.invocation(60))
    (head,), _ = world.store.sessions(None, limit=1, before=None)
    assert head.lease is not None
    assert 0 < (head.lease.until - world.clock.now()).total_seconds() - 60 <= 60


def test_while_it_is_held_another_runner_does_nothing() -> None:
    world, files = World(), Files()
    model = ScriptedModel([[READ], "Done."])
    others = []

    def intrude() -> None:
        (head,), _ = world.store.sessions(None, limit=1, before=None)
        others.append(world.agent(model, files.all).resume(head.session_id).status)

    world.store.before("commit", intrude)
    world.store.after("commit", intrude)
    done = world.agent(model, files.all).run("Read c")
    assert (others, done.status) == (["running", "running"], "completed")
    assert (files.entered("read"), asked(model)) == (["c"], 2)


@pytest.mark.parametrize("verdict", ["approved", "rejected"])
def test_case_41_a_decision_that_comes_while_the_starter_still_runs_counts(verdict: Any) -> None:
    """The starter still runs the ungated call of the turn; the approver's runner is refused the lease."""
    world, files = World(), Files()

    @tool
    def work() -> str:
        """Work; meanwhile the approver clicks, and the wake-up is served."""
        (head,), _ = world.store.sessions(None, limit=1, before=None)
        world.press(head.session_id, "c2-0", verdict, reason="x")
        assert world.agent(model, tools).resume(head.session_id).status == "running"
        return "worked"

    tools = [work, *files.all]
    model = ScriptedModel([[DELETE_A, ("work", {})], "Done."])
    done = world.agent(model, tools).run("Delete a, and work")
    assert (done.status, asked(model)) == ("completed", 2)
    assert files.entered("delete") == (["a"] if verdict == "approved" else [])


def test_case_41_a_decision_between_the_last_write_and_the_second_look_counts() -> None:
    world, files = World(), Files()
    model = ScriptedModel([[DELETE_A, READ], "Done."])

    def press() -> None:
        (head,), _ = world.store.sessions(None, limit=1, before=None)
        world.press(head.session_id, "c2-0", "approved")

    world.store.after("mark_notified", lambda: world.store.before("commit", press))
    done = world.agent(model, files.all).run("Delete a, read c")
    assert (done.status, files.entered("delete")) == ("completed", ["a"])


def test_case_41_two_runners_that_both_look_again_run_the_call_once() -> None:
    world, files = World(), Files()
    model = ScriptedModel([[DELETE_A, READ], "Done."])

    def press_and_resume() -> None:
        (head,), _ = world.store.sessions(None, limit=1, before=None)
        world.press(head.session_id, "c2-0", "approved")
        world.agent(model, files.all).resume(head.session_id)

    world.store.after("mark_notified", lambda: world.store.after("commit", press_and_resume))
    done = world.agent(model, files.all).run("Delete a, read c")
    assert (done.status, files.entered("delete"), asked(model)) == ("completed", ["a"], 2)


def test_r52_two_runners_append_one_turn() -> None:
    """The first one's lease ran out while its model was thinking."""
    world, files = World(), Files()

    class Stalled(ScriptedModel):
        def respond(self, request: ModelRequest) -> ModelReply:
            if not self.requests:
                self.requests.append(request)
                world.clock.advance(minutes=5)
                (head,), _ = world.store.sessions(None, limit=1, before=None)
                world.agent(["From the second."], files.all).resume(head.session_id)
            return ScriptedModel([[DELETE_A]]).respond(request)

    result = world.agent(Stalled([]), files.all).run("Hi", context=world.invocation(60))
    assert (result.status, result.output) == ("completed", "From the second.")
    assert result.session.model_calls == 1
    assert (world.mailbox.sent, result.session.calls) == ([], {})


@pytest.mark.parametrize("skewed", [False, True])
def test_r43_r50_the_end_of_a_gated_call_is_written_though_the_log_went_on_meanwhile(skewed: bool) -> None:
    """The tool outlived its runner's lease (or the other's clock is an hour ahead), and somebody else answered
    the turn's other call. The first one records, leaves the session alone, and has it looked at once more.
    """
    world = World()
    entries: list[str] = []

    @tool(requires_confirmation=True)
    def delete(path: str) -> str:
        """Delete; meanwhile the lease runs out and another runner takes the session."""
        entries.append(path)
        if path == "a":
            world.clock.advance(hours=1)
            world.press(paused.session_id, "c2-1", "rejected", reason="no")
            world.queue.woken.clear()
            world.agent(model, [delete]).resume(paused.session_id, context=world.invocation(60))
            world.clock.advance(hours=-1 if skewed else 0)
        return f"Deleted {path}."

    model = ScriptedModel([[DELETE_A, ("delete", {"path": "b"})], "Done."])
    paused = world.agent(model, [delete]).run("Delete a and b")
    world.agent(model, [delete]).resume(paused.session_id, approve("c2-0"), context=world.invocation(60))
    session = world.session(paused.session_id)
    assert {call_id: str(call.status) for call_id, call in session.calls.items()} == {
        "c2-0": "succeeded",
        "c2-1": "rejected",
    }
    assert set(session.results) == {"c2-0", "c2-1"}
    assert (entries, asked(model)) == (["a"], 1)
    assert world.queue.woken == [paused.session_id]
    assert world.agent(model, [delete]).resume(paused.session_id).status == "completed"
    assert results_in(model.requests[-1])[0][2] == "Deleted a."
    assert asked(model) == 2


def test_a_session_that_nobody_holds_after_a_rejection_can_be_taken() -> None:
    world, files, model = World(), Files(), ScriptedModel([[DELETE_A], "I see."])
    paused = world.agent(model, files.all).run("Delete a")
    world.agent(model, files.all).resume(paused.session_id, reject("c2-0"))
    assert world.session(paused.session_id).head.lease is None
