"""Cancelling: nothing of the session can be approved or run afterwards."""

from __future__ import annotations

from typing import Any

import pytest

from pausepoint import tool
from pausepoint.errors import AlreadyDecided, NotFound, Unavailable
from pausepoint.models.scripted import ScriptedModel
from pausepoint.runtime.cancelling import cancel
from tests.support.agents import World, approve, asked, statuses
from tests.support.tools import Files

DELETE_A, READ = ("delete", {"path": "a"}), ("read", {"path": "c"})


def session_id(world: World) -> str:
    (head,), _ = world.store.sessions(None, limit=2, before=None)
    return head.session_id


def stop(world: World) -> Any:
    return cancel(world.services, session_id(world), by="maria")


def test_case_48_cancelled_while_paused_the_call_cannot_be_approved() -> None:
    world, files, model = World(), Files(), ScriptedModel([[DELETE_A]])
    world.agent(model, files.all).run("Delete a")
    assert stop(world).head.status == "cancelled"
    with pytest.raises(AlreadyDecided):
        world.press(session_id(world), "c2-0", "approved")
    with pytest.raises(AlreadyDecided):
        world.agent(model, files.all).resume(session_id(world), approve("c2-0"))
    result = world.agent(model, files.all).resume(session_id(world))
    assert (result.status, statuses(result), result.pending_calls) == ("cancelled", {"c2-0": "cancelled"}, ())
    assert (files.entries, asked(model)) == ([], 1)


def test_case_48_cancelled_after_the_approval_and_before_the_run_the_call_is_not_run() -> None:
    world, files, model = World(), Files(), ScriptedModel([[DELETE_A]])
    world.agent(model, files.all).run("Delete a")
    world.press(session_id(world), "c2-0", "approved")
    stop(world)
    assert world.agent(model, files.all).resume(session_id(world)).status == "cancelled"
    with pytest.raises(AlreadyDecided) as refusal:
        world.press(session_id(world), "c2-0", "approved")
    assert refusal.value.call.status == "cancelled"
    assert files.entries == []


@pytest.mark.parametrize("operation", ["claim", "lease"])
def test_case_48_cancelled_at_the_last_moment_before_the_claim_the_call_is_not_run(operation: str) -> None:
    world, files, model = World(), Files(), ScriptedModel([[DELETE_A]])
    world.agent(model, files.all).run("Delete a")
    world.store.before(operation, lambda: stop(world))
    assert world.agent(model, files.all).resume(session_id(world), approve("c2-0")).status == "cancelled"
    assert files.entries == []


def test_case_48_cancelled_while_the_model_thinks_its_turn_is_dropped() -> None:
    world, files = World(), Files()
    model = ScriptedModel([[DELETE_A, READ]])
    world.store.before("commit", lambda: stop(world))
    result = world.agent(model, files.all).run("Delete a")
    assert (result.status, result.session.calls, files.entries) == ("cancelled", {}, [])
    assert world.mailbox.sent == []


@pytest.mark.parametrize("following", [[READ], [DELETE_A], "Done."])
def test_case_48_cancelled_while_a_gated_tool_runs_its_end_is_recorded_and_nothing_follows(following: Any) -> None:
    world, files = World(), Files()

    @tool(requires_confirmation=True)
    def slow() -> str:
        """Take long; meanwhile somebody cancels."""
        stop(world)
        return "done all the same"

    model = ScriptedModel([[("slow", {})], following, "Done."])
    world.agent(model, [slow, *files.all]).run("Go")
    result = world.agent(model, [slow, *files.all]).resume(session_id(world), approve("c2-0"))
    session = world.session(session_id(world))
    assert (result.status, session.head.status) == ("cancelled", "cancelled")
    assert session.calls["c2-0"].status == "succeeded"
    assert session.results["c2-0"].text == "done all the same"
    assert (asked(model), files.entries) == (1, [])
    assert world.agent(model, [slow, *files.all]).resume(session_id(world)).status == "cancelled"


def test_case_48_cancelled_after_the_end_it_takes_no_more() -> None:
    world = World()
    world.agent(["Hello."]).run("Hi")
    session = stop(world)
    assert (session.head.status, session.output) == ("cancelled", "Hello.")


def test_case_48_cancelling_twice_is_harmless() -> None:
    world, files = World(), Files()
    world.agent([[DELETE_A]], files.all).run("Delete a")
    first = stop(world)
    world.clock.advance(minutes=1)
    assert stop(world) == first


def test_case_48_a_session_that_was_handed_over_and_cancelled_is_not_carried_on() -> None:
    world, model = World(), ScriptedModel(["Hello."])
    world.agent(model).run("Hi", context=world.invocation(60, hand_over=0))
    stop(world)
    assert world.agent(model).resume(session_id(world)).status == "cancelled"
    assert asked(model) == 0


def test_an_unknown_session_cannot_be_cancelled() -> None:
    with pytest.raises(NotFound):
        cancel(World().services, "nobody's", by="maria")


def test_a_decision_that_comes_between_is_cancelled_too() -> None:
    world, files = World(), Files()
    world.agent([[DELETE_A]], files.all).run("Delete a")
    world.store.before("close", lambda: world.press(session_id(world), "c2-0", "approved"))
    assert stop(world).calls["c2-0"].status == "cancelled"


def test_a_session_that_never_stands_still_is_left_alone_with_an_error() -> None:
    world, files = World(), Files()
    world.agent([[DELETE_A]], files.all).run("Delete a")

    def move() -> None:
        count = world.store.call(session_id(world), "c2-0").attempts
        world.store.alter_call(session_id(world), "c2-0", attempts=count + 1)
        world.store.before("close", move)

    world.store.before("close", move)
    with pytest.raises(Unavailable):
        stop(world)
    assert world.store.call(session_id(world), "c2-0").status == "pending"
