"""Resuming in another process, minutes or days later, also with other code."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from pydantic import AfterValidator, Field

from pausepoint import Tool, ToolContext, tool
from pausepoint.models.scripted import ScriptedModel
from tests.support.agents import World, approve, asked, reject, results_in, statuses
from tests.support.tools import Files

DELETE_A, READ, SEND = ("delete", {"path": "a"}), ("read", {"path": "c"}), ("send", {"to": "maria"})


@tool(name="delete", requires_confirmation=True)
def renamed_argument(file: str) -> str:
    """Delete a file."""
    raise AssertionError("entered")


@tool(name="delete", requires_confirmation=True)
def new_required_argument(path: str, force: bool) -> str:
    """Delete a file."""
    raise AssertionError("entered")


@tool(name="delete", requires_confirmation=True)
def other_type(path: list[str]) -> str:
    """Delete files."""
    raise AssertionError("entered")


@tool(name="delete", requires_confirmation=True)
def other_meaning(path: Annotated[str, Field(description="Relative to the user's home.")], context: ToolContext) -> str:
    """Delete a file."""
    raise AssertionError("entered")


@tool(name="erase", requires_confirmation=True)
def renamed_tool(path: str) -> str:
    """Delete a file."""
    raise AssertionError("entered")


def test_case_22_a_new_message_after_an_approved_call_does_not_run_it_again() -> None:
    world, files, model = World(), Files(), ScriptedModel([[DELETE_A], "Gone.", "You are welcome."])
    paused = world.agent(model, files.all).run("Delete a")
    world.agent(model, files.all).resume(paused.session_id, approve("c2-0"))
    done = world.agent(model, files.all).run("Thanks", session_id=paused.session_id)
    assert (done.status, done.output) == ("completed", "You are welcome.")
    assert files.entered("delete") == ["a"]


def test_case_23_two_gated_calls_one_after_the_other_give_each_result_once() -> None:
    world, files = World(), Files()
    model = ScriptedModel([[DELETE_A], [("delete", {"path": "b"})], "Done."])
    paused = world.agent(model, files.all).run("Delete a, then b")
    again = world.agent(model, files.all).resume(paused.session_id, approve("c2-0"))
    (second,) = again.pending_calls
    world.agent(model, files.all).resume(paused.session_id, approve(second.call_id))
    results = [result.text for item in model.requests[2].history for _, result in getattr(item, "results", ())]
    assert results == ["Deleted a.", "Deleted b."]


def test_case_44_approving_does_not_run_the_turns_before_again() -> None:
    world, files = World(), Files()
    model = ScriptedModel([[SEND, READ], [DELETE_A], "Done."])
    paused = world.agent(model, files.all).run("Send, read, then delete")
    world.agent(model, files.all).resume(paused.session_id, approve(paused.pending_calls[0].call_id))
    assert files.entries == [("send", "maria"), ("read", "c"), ("delete", "a")]


def test_resuming_without_a_decision_changes_nothing_and_asks_nobody() -> None:
    world, files, model = World(), Files(), ScriptedModel([[DELETE_A]])
    paused = world.agent(model, files.all).run("Delete a")
    for _ in range(3):
        again = world.agent(model, files.all).resume(paused.session_id)
        assert (again.status, statuses(again)) == ("paused", {"c2-0": "pending"})
    assert (files.entries, asked(model), len(world.mailbox.sent)) == ([], 1, 1)


@pytest.mark.parametrize("times", [1, 2, 5])
def test_r40_wake_ups_that_come_too_often_run_nothing_twice(times: int) -> None:
    world, files, model = World(), Files(), ScriptedModel([[DELETE_A], "Gone."])
    paused = world.agent(model, files.all).run("Delete a")
    world.press(paused.session_id, "c2-0", "approved")
    for _ in range(times):
        assert world.agent(model, files.all).resume(paused.session_id).status == "completed"
    assert (files.entered("delete"), asked(model)) == (["a"], 2)


def test_a_session_that_rests_is_returned_as_it_is() -> None:
    world, model = World(), ScriptedModel(["Hello."])
    done = world.agent(model).run("Hi")
    assert world.agent([]).resume(done.session_id).output == "Hello."


@pytest.mark.parametrize(
    "tools",
    [
        pytest.param([], id="the tool is gone"),
        pytest.param([renamed_tool], id="the tool has another name"),
        pytest.param([renamed_argument], id="an argument has another name"),
        pytest.param([new_required_argument], id="there is a new required argument"),
        pytest.param([other_type], id="an argument has another type"),
        pytest.param([other_meaning], id="an argument is described otherwise"),
    ],
)
def test_case_46_a_call_of_a_tool_that_changed_meanwhile_is_not_run_and_the_session_goes_on(tools: list[Tool]) -> None:
    world, files, model = World(), Files(), ScriptedModel([[DELETE_A], "I see."])
    paused = world.agent(model, files.all).run("Delete a")
    done = world.agent(model, tools).resume(paused.session_id, approve("c2-0"))
    assert (done.status, done.output) == ("completed", "I see.")
    assert statuses(done) == {"c2-0": "stale"}
    ((_, status, text),) = results_in(model.requests[1])
    assert status == "error"
    assert "changed" in text


def clamping(limit: int, entries: list[int]) -> Tool:
    """Return a tool whose schema does not show what it clamps."""

    def pay(amount: int) -> str:
        """Pay."""
        entries.append(amount)
        return f"Paid {amount}."

    pay.__annotations__["amount"] = Annotated[int, AfterValidator(lambda amount: min(amount, limit))]
    return Tool(pay, requires_confirmation=True)


def test_case_46_i2_a_call_that_would_run_with_other_values_than_were_approved_is_not_run() -> None:
    """The schema is the same; what the validator makes of the arguments is not."""
    world, paid, model = World(), list[int](), ScriptedModel([[("pay", {"amount": 700})], "I see."])
    paused = world.agent(model, [clamping(500, paid)]).run("Pay 700")
    assert paused.pending_calls[0].arguments == '{"amount":500}'
    assert clamping(100, paid).schema_hash == clamping(500, paid).schema_hash
    done = world.agent(model, [clamping(100, paid)]).resume(paused.session_id, approve("c2-0"))
    assert (done.status, paid, statuses(done)) == ("completed", [], {"c2-0": "stale"})


def test_case_46_a_rejection_needs_no_tool() -> None:
    world, files, model = World(), Files(), ScriptedModel([[DELETE_A], "I see."])
    paused = world.agent(model, files.all).run("Delete a")
    done = world.agent(model, []).resume(paused.session_id, reject("c2-0", reason="no"))
    assert (done.status, statuses(done)) == ("completed", {"c2-0": "rejected"})


def test_case_46_an_ungated_call_of_a_tool_that_changed_is_not_run_either() -> None:
    world, files, model = World(), Files(), ScriptedModel([[READ], "I see."])
    handed = world.agent(model, files.all).run("Read c", context=world.invocation(60, hand_over=60))
    assert handed.status == "completed"
    world, model = World(), ScriptedModel([[READ], "I see."])
    world.store.after("commit", lambda: world.clock.advance(seconds=50))
    handed = world.agent(model, files.all).run("Read c", context=world.invocation(60, hand_over=30))
    assert handed.status == "running"
    files.entries.clear()
    assert world.agent(model, []).resume(handed.session_id).status == "completed"
    assert files.entries == []
    assert "changed" in results_in(model.requests[1])[0][2]


def test_a_session_keeps_the_words_and_tools_it_started_with() -> None:
    """Models refuse to go on when the prompt changes underneath what they thought."""
    world, files, model = World(), Files(), ScriptedModel([[DELETE_A], "Gone."])
    paused = world.agent(model, files.all).run("Delete a")
    newer: Any = world.agent(model, [*files.all, renamed_tool], instructions="Be verbose.", name="clerk")
    newer.resume(paused.session_id, approve("c2-0"))
    assert model.requests[1].spec == model.requests[0].spec
    assert model.requests[1].history[:1] == model.requests[0].history[:1]
