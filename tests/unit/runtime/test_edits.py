"""An approver may change a call's arguments; nothing else, and not without being told."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pausepoint import DecisionRequest, Tool, tool
from pausepoint.domain.calls import Decision
from pausepoint.domain.canonical import call_digest
from pausepoint.errors import AlreadyDecided, Conflict, InvalidInput
from pausepoint.models.scripted import ScriptedModel
from tests.support.agents import World, approve, results_in, statuses
from tests.support.tools import pay_tool


class Paused:
    """A session that waits for a payment of 5000."""

    def __init__(self) -> None:
        self.world, self.paid = World(), list[int]()
        self.model = ScriptedModel([[("pay", {"amount": 5000})], "Done."])
        self.session_id = self.resumer().run("Pay 5000").session_id

    def resumer(self) -> Any:
        return self.world.agent(self.model, [pay_tool(self.paid, gate=True)])

    def edit(self, arguments: Any, verdict: Any = "approved") -> Any:
        return self.resumer().resume(self.session_id, [DecisionRequest("c2-0", verdict, arguments=arguments)])


def test_case_29_an_edited_call_runs_as_edited_and_the_result_says_what_was_changed() -> None:
    paused = Paused()
    done = paused.edit({"amount": "700"})
    assert done.status == "completed"
    assert paused.paid == [700]
    ((_, status, text),) = results_in(paused.model.requests[1])
    assert status == "success"
    assert 'from {"amount":5000} to {"amount":700}' in text
    assert text.endswith("Paid 700.")


def test_i2_the_digest_of_what_ran_is_the_digest_that_was_approved() -> None:
    paused = Paused()
    paused.edit({"amount": 700})
    call = paused.world.store.call(paused.session_id, "c2-0")
    digest = call_digest("pay", '{"amount":700}')
    assert call.decision is not None
    assert call.execution is not None
    assert (call.decision.digest_approved, call.execution.digest) == (digest, digest)
    assert (call.arguments, call.decision.digest_shown) == ('{"amount":5000}', call.digest)


def test_the_turn_of_the_model_is_not_rewritten() -> None:
    paused = Paused()
    paused.edit({"amount": 700})
    replayed: Any = paused.model.requests[1].history[1]
    assert replayed.message["content"][0]["toolUse"]["input"] == {"amount": 5000}


@pytest.mark.parametrize(
    "arguments",
    [
        {"amount": 700, "name": "read"},
        {"name": "read", "arguments": {"amount": 7}},
        {"amount": "much"},
        {"amount": None},
        {"amount": 1.5},
        "700",
        [700],
    ],
)
def test_case_05_an_edit_that_does_not_fit_is_refused_and_the_call_still_waits(arguments: Any) -> None:
    paused = Paused()
    with pytest.raises(InvalidInput) as refusal:
        paused.edit(arguments)
    assert refusal.value.field == "decisions.0.arguments"
    assert paused.world.store.call(paused.session_id, "c2-0").status == "pending"
    assert paused.paid == []


def test_a_rejection_changes_nothing() -> None:
    paused = Paused()
    with pytest.raises(InvalidInput):
        paused.edit({"amount": 700}, "rejected")


def test_an_edit_that_changes_nothing_is_an_ordinary_approval() -> None:
    paused = Paused()
    paused.edit({"amount": "5000"})
    assert results_in(paused.model.requests[1])[0][2] == "Paid 5000."


@tool(name="pay", requires_confirmation=True)
def pay_in_a_currency(amount: int, currency: str = "EUR") -> str:
    """Pay an amount."""
    raise AssertionError("entered")


@pytest.mark.parametrize("tools", [[], [pay_in_a_currency]])
def test_case_46_a_call_of_a_tool_that_changed_cannot_be_edited(tools: list[Tool]) -> None:
    paused = Paused()
    edit = DecisionRequest("c2-0", "approved", arguments={"amount": 7})
    with pytest.raises(Conflict):
        paused.world.agent([], tools).resume(paused.session_id, [edit])
    assert paused.world.store.call(paused.session_id, "c2-0").status == "pending"


def test_an_approval_as_asked_and_one_as_edited_are_different_verdicts() -> None:
    paused = Paused()
    paused.world.press(paused.session_id, "c2-0", "approved")
    with pytest.raises(AlreadyDecided):
        paused.edit({"amount": 700})
    paused.resumer().resume(paused.session_id, approve("c2-0"))
    assert paused.paid == [5000]


def test_case_35_the_longest_edit_and_the_longest_result_still_fit_what_can_be_stored() -> None:
    """Arguments of quotes: each is escaped again when they stand in a result or a decision."""
    world, size = World(), 31_000

    @tool(requires_confirmation=True)
    def write(text: str) -> str:
        """Write."""
        return '"' * 200_000

    model = ScriptedModel([[("write", {"text": '"' * size})], "Done."])
    paused = world.agent(model, [write]).run("Write")
    edit = DecisionRequest("c2-0", "approved", arguments={"text": '"' * (size + 1)})
    done = world.agent(model, [write]).resume(paused.session_id, [edit])
    assert (done.status, statuses(done)) == ("completed", {"c2-0": "succeeded"})
    assert results_in(model.requests[1])[0][2].startswith('The approver changed the arguments from {"text":')


def test_case_12_edited_arguments_that_were_altered_in_the_table_are_not_run() -> None:
    paused = Paused()

    def alter() -> None:
        decision = paused.world.store.call(paused.session_id, "c2-0").decision
        assert decision is not None
        altered = replace(decision, arguments='{"amount":9}')
        paused.world.store.alter_call(paused.session_id, "c2-0", decision=altered)

    paused.world.store.after("decide", alter)
    paused.edit({"amount": 700})
    assert paused.paid == []
    assert paused.world.store.call(paused.session_id, "c2-0").status == "stale"


def test_r20_an_edit_of_something_else_than_was_shown_is_none() -> None:
    paused = Paused()
    edit = DecisionRequest("c2-0", "approved", arguments={"amount": 700}, digest="0" * 64)
    with pytest.raises(Conflict):
        paused.resumer().resume(paused.session_id, [edit])
    assert paused.world.store.call(paused.session_id, "c2-0").status == "pending"


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ('{"amount":700.0}', "The tool would run other arguments than those that were approved."),
        ('{"amount":"much"}', "Invalid arguments. amount: Input should be a valid integer"),
    ],
)
def test_an_edit_that_never_fitted_the_tool_is_not_run_and_not_blamed_on_a_change_of_it(
    arguments: str, why: str
) -> None:
    """As the page may record it, which has the schema only."""
    paused = Paused()
    call = paused.world.store.call(paused.session_id, "c2-0")
    decision = Decision(
        verdict="approved",
        by="jo",
        at=paused.world.clock.now(),
        verified="link",
        digest_shown=call.digest,
        digest_approved=call_digest("pay", arguments),
        arguments=arguments,
    )
    paused.world.store.decide(paused.session_id, "c2-0", decision, token_hash=None)
    assert paused.resumer().resume(paused.session_id).status == "completed"
    assert paused.paid == []
    assert paused.world.store.call(paused.session_id, "c2-0").status == "stale"
    ((_, status, text),) = results_in(paused.model.requests[1])
    assert status == "error"
    assert text.startswith(f"Not run: the arguments as the approver changed them do not fit the tool 'pay'. {why}")


def test_case_46_an_edit_of_a_tool_that_changed_since_is_told_as_that() -> None:
    paused = Paused()
    call = paused.world.store.call(paused.session_id, "c2-0")
    edited = '{"amount":7}'
    decision = Decision(
        verdict="approved",
        by="jo",
        at=paused.world.clock.now(),
        verified="link",
        digest_shown=call.digest,
        digest_approved=call_digest("pay", edited),
        arguments=edited,
    )
    paused.world.store.decide(paused.session_id, "c2-0", decision, token_hash=None)
    paused.world.agent(paused.model, [pay_in_a_currency]).resume(paused.session_id)
    assert "changed after the call was requested" in results_in(paused.model.requests[1])[0][2]
