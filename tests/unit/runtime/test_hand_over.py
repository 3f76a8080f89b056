"""Time: what takes too long for one invocation is handed to the work queue, at a step boundary."""

from __future__ import annotations

from typing import Any

import pytest

from pausepoint import tool
from pausepoint.errors import ModelTimeout
from pausepoint.models.scripted import ScriptedModel
from pausepoint.runtime.ports import ModelReply, ModelRequest
from tests.support.agents import World, approve, asked, results_in
from tests.support.tools import Files

READ, DELETE_A = ("read", {"path": "c"}), ("delete", {"path": "a"})


class SlowModel(ScriptedModel):
    """Takes its time for every turn."""

    def __init__(self, world: World, turns: Any, *, seconds: float) -> None:
        super().__init__(turns)
        self._world, self._seconds = world, seconds

    def respond(self, request: ModelRequest) -> ModelReply:
        reply = super().respond(request)
        self._world.clock.advance(seconds=self._seconds)
        return reply


def slow_tool(world: World, entries: list[str], *, seconds: float) -> Any:
    @tool
    def work(name: str) -> str:
        """Work."""
        entries.append(name)
        world.clock.advance(seconds=seconds)
        return f"{name} done"

    return work


def test_case_40_what_takes_longer_than_the_caller_waits_goes_to_the_queue_and_runs_once() -> None:
    world, entries = World(), list[str]()
    model = ScriptedModel([[("work", {"name": "one"}), ("work", {"name": "two"})], "Done."])
    tools = [slow_tool(world, entries, seconds=25)]
    handed = world.agent(model, tools).run("Work", context=world.invocation(900, hand_over=20, answer=27))
    assert (handed.status, entries, world.queue.woken) == ("running", ["one"], [handed.session_id])
    stored = world.session(handed.session_id)
    assert (stored.head.lease, set(stored.results)) == (None, {"c2-0"})
    done = world.agent(model, tools).resume(handed.session_id, context=world.invocation(900))
    assert (done.status, entries) == ("completed", ["one", "two"])
    assert [text for _, _, text in results_in(model.requests[1])] == ["one done", "two done"]


def test_case_40_a_slow_model_is_not_asked_again_for_the_turn_it_gave() -> None:
    world, files = World(), Files()
    model = SlowModel(world, [[READ], [("read", {"path": "d"}), DELETE_A]], seconds=15)
    context = world.invocation(900, hand_over=20, answer=27)
    handed = world.agent(model, files.all).run("Read, then delete", context=context)
    assert (handed.status, asked(model), files.entered("read")) == ("running", 2, ["c"])
    assert world.agent(model, files.all).resume(handed.session_id).status == "paused"
    assert (asked(model), files.entered("read"), len(world.mailbox.sent)) == (2, ["c", "d"], 1)


def test_a_request_that_asks_for_it_is_answered_at_once_and_runs_on_the_queue() -> None:
    world, model = World(), ScriptedModel(["Hello."])
    handed = world.agent(model).run("Hi", context=world.invocation(60, hand_over=0))
    assert (handed.status, asked(model), world.queue.woken) == ("running", 0, [handed.session_id])
    assert world.agent(model).resume(handed.session_id).output == "Hello."


@pytest.mark.parametrize("seconds_left", [2.9, 0.0, -5.0])
def test_no_step_starts_when_there_is_no_time_to_finish_it(seconds_left: float) -> None:
    world, model = World(), ScriptedModel(["Hello."])
    handed = world.agent(model).run("Hi", context=world.invocation(seconds_left))
    assert (handed.status, asked(model)) == ("running", 0)


def test_the_model_is_given_the_time_that_is_left_for_an_answer() -> None:
    world, files = World(), Files()
    model = SlowModel(world, [[READ], "Done."], seconds=5)
    world.agent(model, files.all).run("Read", context=world.invocation(900, hand_over=20, answer=27))
    assert [request.timeout for request in model.requests] == [27, 22]
    queue = ScriptedModel(["Hello."])
    world.agent(queue).run("Hi", context=world.invocation(900))
    assert queue.requests[0].timeout == 900


def test_a_model_too_slow_for_a_waiting_caller_is_left_to_the_queue() -> None:
    world, model = World(), ScriptedModel([ModelTimeout("slow"), "Hello."])
    handed = world.agent(model).run("Hi", context=world.invocation(900, answer=27))
    assert (handed.status, world.queue.woken) == ("running", [handed.session_id])
    assert world.agent(model).resume(handed.session_id, context=world.invocation(900)).output == "Hello."


def test_a_model_too_slow_for_the_queue_as_well_fails_the_session() -> None:
    world, model = World(), ScriptedModel([ModelTimeout("slow"), "Hello."])
    failed = world.agent(model).run("Hi", context=world.invocation(900))
    assert failed.status == "failed"
    assert failed.session.failure is not None
    assert failed.session.failure.code == "model-timeout"


def test_a_wake_up_that_cannot_be_sent_loses_time_only() -> None:
    world, model = World(), ScriptedModel(["Hello."])
    world.queue.failures = 1
    handed = world.agent(model).run("Hi", context=world.invocation(60, hand_over=0))
    assert handed.status == "running"
    assert world.agent(model).resume(handed.session_id).status == "completed"


def test_an_approved_call_is_not_entered_when_there_is_no_time_left() -> None:
    world, files, model = World(), Files(), ScriptedModel([[DELETE_A], "Gone."])
    paused = world.agent(model, files.all).run("Delete a")
    handed = world.agent(model, files.all).resume(
        paused.session_id, approve("c2-0"), context=world.invocation(900, hand_over=0)
    )
    assert (handed.status, files.entries) == ("running", [])
    assert [call.status for call in handed.pending_calls] == ["approved"]
    assert world.agent(model, files.all).resume(paused.session_id).status == "completed"
    assert files.entered("delete") == ["a"]


def test_r42_a_tool_is_told_a_deadline_within_its_invocation() -> None:
    world, files, model = World(), Files(), ScriptedModel([[DELETE_A], "Gone."])
    paused = world.agent(model, files.all).run("Delete a")
    context = world.invocation(60)
    world.agent(model, files.all).resume(paused.session_id, approve("c2-0"), context=context)
    assert files.contexts[0].deadline <= context.ends_at
    call = world.store.call(paused.session_id, "c2-0")
    assert call.execution is not None
    assert call.execution.deadline >= files.contexts[0].deadline
