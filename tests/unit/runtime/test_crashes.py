"""A process that dies anywhere: nothing is lost, nothing gated runs twice."""

from __future__ import annotations

from typing import Any

import pytest

from pausepoint import ToolContext, tool
from pausepoint.domain.calls import due_at
from pausepoint.models.scripted import ScriptedModel, Turn
from pausepoint.runtime.ports import ModelReply, ModelRequest
from tests.support.agents import Killed, World, approve, asked, die, reject, results_in, statuses
from tests.support.tools import Files

DELETE_A, READ, SEND = ("delete", {"path": "a"}), ("read", {"path": "c"}), ("send", {"to": "maria"})


class SteadyModel(ScriptedModel):
    """Answers by what it is sent, however often it is asked: three calls first, then an end."""

    def __init__(self) -> None:
        super().__init__([])

    def respond(self, request: ModelRequest) -> ModelReply:
        turn: Turn = [DELETE_A, READ, SEND] if len(request.history) == 1 else "Done."
        return ScriptedModel([turn]).respond(request)


def only_session(world: World) -> str:
    (head,), _ = world.store.sessions(None, limit=2, before=None)
    return head.session_id


def test_case_24_killed_right_after_the_pause_was_saved_the_call_is_there_and_its_notice_is_due() -> None:
    world, files = World(), Files()
    world.store.after("commit", die)
    with pytest.raises(Killed):
        world.agent([[DELETE_A]], files.all).run("Delete a")
    session = world.session(only_session(world))
    call = session.calls["c2-0"]
    assert (session.head.status, session.head.lease, call.status) == ("paused", None, "pending")
    assert (call.notify, due_at(call)) == ("due", call.requested_at)


def test_case_25_killed_after_the_turn_and_before_any_result_the_next_process_carries_on() -> None:
    world, files, model = World(), Files(), ScriptedModel([[READ, SEND], "Done."])
    world.store.after("commit", die)
    with pytest.raises(Killed):
        world.agent(model, files.all).run("Read c", context=world.invocation(60))
    session_id = only_session(world)
    assert world.session(session_id).results == {}
    world.clock.advance(minutes=2)
    assert world.agent(model, files.all).resume(session_id).status == "completed"
    assert [status for _, status, _ in results_in(model.requests[1])] == ["success", "success"]
    assert (files.entries, asked(model)) == ([("read", "c"), ("send", "maria")], 2)


@pytest.mark.parametrize("operation", ["lease", "commit", "claim", "decide", "mark_notified", "create"])
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("nth", range(8))
def test_i1_i3_i6_wherever_a_process_dies_another_finishes_and_nothing_gated_runs_twice(
    when: str, operation: str, nth: int
) -> None:
    """Kills the process at the nth such operation; then new processes and the same person go on."""
    world, files, model = World(), Files(), SteadyModel()

    def arm() -> None:
        nonlocal nth
        if nth:
            nth -= 1
            getattr(world.store, when)(operation, arm)
        else:
            die()

    getattr(world.store, when)(operation, arm)
    while True:
        try:
            session_id = (
                world.agent(model, files.all).run("Go", idempotency_key="k", context=world.invocation(60)).session_id
            )
            call = world.session(session_id).calls["c2-0"]
            if call.status == "pending":
                world.agent(model, files.all).resume(session_id, approve("c2-0"), context=world.invocation(60))
            world.agent(model, files.all).resume(session_id, context=world.invocation(60))
            break
        except Killed:
            world.clock.advance(minutes=2)
    session = world.session(only_session(world))
    assert len(files.entered("delete")) <= 1
    assert len(files.entered("send")) <= 1
    unsure = [call for call in session.calls.values() if call.status == "executing"]
    # Dying between a claim and the record of its end leaves a doubt that only a person can end.
    if unsure:
        assert (operation, session.head.status) in {("claim", "running"), ("commit", "running")}
        assert session.output == ""
    else:
        assert (session.head.status, session.output) == ("completed", "Done.")
        assert (files.entered("delete"), files.entered("send")) == (["a"], ["maria"])
        assert set(session.results) == {"c2-0", "c2-1", "c2-2"}
        item: Any = session.history()[2]
        assert [call.call_id for call, _ in item.results] == ["c2-0", "c2-1", "c2-2"]


def test_case_39_a_gated_tool_that_raises_has_failed_and_is_not_tried_again() -> None:
    world, entries = World(), list[str]()

    @tool(requires_confirmation=True)
    def delete(path: str) -> None:
        """Delete a file."""
        entries.append(path)
        raise OSError("disk on fire")

    model = ScriptedModel([[DELETE_A], "Sorry."])
    paused = world.agent(model, [delete]).run("Delete a")
    done = world.agent(model, [delete]).resume(paused.session_id, approve("c2-0"))
    assert (done.status, statuses(done), entries) == ("completed", {"c2-0": "failed"}, ["a"])
    assert results_in(model.requests[1]) == [("toolu_1_0", "error", "OSError: disk on fire")]


@pytest.mark.parametrize("gated", [True, False])
def test_case_39_i1_killed_inside_a_tool_that_must_not_run_twice_it_is_not_entered_again(gated: bool) -> None:
    world, entries = World(), list[str]()

    @tool(requires_confirmation=gated, retry_safe=False)
    def delete(path: str) -> None:
        """Delete a file."""
        entries.append(path)
        raise Killed

    model = ScriptedModel([[DELETE_A], "Done."])
    agent = world.agent(model, [delete])
    if gated:
        session_id = agent.run("Delete a").session_id
        with pytest.raises(Killed):
            agent.resume(session_id, approve("c2-0"), context=world.invocation(60))
    else:
        with pytest.raises(Killed):
            agent.run("Delete a", context=world.invocation(60))
        session_id = only_session(world)
    for _ in range(3):
        world.clock.advance(hours=1)
        world.agent(model, [delete]).resume(session_id)
    call = world.store.call(session_id, "c2-0")
    assert (entries, call.status, asked(model)) == (["a"], "executing", 1)
    assert call.execution is not None
    assert due_at(call) == call.execution.deadline


def test_what_ran_before_a_tool_that_must_not_run_twice_is_written_before_it_is_entered() -> None:
    world, files = World(), Files()

    @tool(retry_safe=False)
    def explode() -> None:
        """Take the process down."""
        raise Killed

    with pytest.raises(Killed):
        world.agent([[READ, ("explode", {})]], [explode, *files.all]).run("Go")
    assert world.session(only_session(world)).results["c2-0"].text == "content of c"


def test_killed_inside_a_tool_that_is_safe_to_retry_it_runs_again_with_the_same_key() -> None:
    world, keys = World(), list[str]()

    @tool
    def look(context: ToolContext) -> str:
        """Look."""
        keys.append(context.idempotency_key)
        if len(keys) == 1:
            raise Killed
        return "seen"

    model = ScriptedModel([[("look", {})], "Done."])
    with pytest.raises(Killed):
        world.agent(model, [look]).run("Look", context=world.invocation(60))
    world.clock.advance(minutes=2)
    done = world.agent(model, [look]).resume(only_session(world))
    assert done.status == "completed"
    assert keys == [f"{done.session_id}:c2-0"] * 2


def test_a_rejected_call_is_answered_once_however_often_its_runner_dies() -> None:
    world, files, model = World(), Files(), ScriptedModel([[DELETE_A], "I see."])
    paused = world.agent(model, files.all).run("Delete a")
    world.store.after("commit", die)
    with pytest.raises(Killed):
        world.agent(model, files.all).resume(paused.session_id, reject("c2-0"), context=world.invocation(60))
    world.clock.advance(minutes=2)
    done = world.agent(model, files.all).resume(paused.session_id)
    assert done.status == "completed"
    assert [event.type for event in done.session.events].count("tool_result") == 1
