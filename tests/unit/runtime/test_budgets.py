"""Budgets: past one the session fails and says which."""

from __future__ import annotations

from typing import Any

import pytest

from pausepoint import Limits
from pausepoint.domain.events import Usage
from pausepoint.models.scripted import ScriptedModel
from pausepoint.runtime.ports import ModelReply, ModelRequest
from tests.support.agents import World, asked, reject, results_in
from tests.support.tools import Files

READ, DELETE_A = ("read", {"path": "c"}), ("delete", {"path": "a"})


class Endless(ScriptedModel):
    """Asks for the same calls at every step."""

    def __init__(self, *calls: tuple[str, dict[str, Any]], tokens: int = 20) -> None:
        super().__init__([])
        self._calls, self._tokens = calls, tokens

    def respond(self, request: ModelRequest) -> ModelReply:
        self.requests.append(request)
        reply = ScriptedModel([self._calls]).respond(request)
        usage = Usage(input_tokens=self._tokens)
        return ModelReply(reply.message, "", reply.stop_reason, reply.calls, usage)


def failure(result: Any) -> str:
    assert result.status == "failed"
    assert result.session.failure.code == "budget-exceeded"
    return str(result.session.failure.message)


@pytest.mark.parametrize("budget", [1, 2, 7])
def test_r66_i10_a_model_that_never_stops_is_called_exactly_so_often(budget: int) -> None:
    model, files = Endless(READ), Files()
    result = World().agent(model, files.all, limits=Limits(model_calls=budget)).run("Go")
    assert f"{budget} model calls" in failure(result)
    assert (asked(model), len(files.entries)) == (budget, budget)


def test_r66_another_message_does_not_lift_a_budget() -> None:
    world, model, files = World(), Endless(READ), Files()
    agent = world.agent(model, files.all, limits=Limits(model_calls=2))
    result = agent.run("Go")
    assert "2 model calls" in failure(agent.run("Go on", session_id=result.session_id))
    assert asked(model) == 2


def test_r66_the_budget_is_the_sessions_own_whatever_the_next_process_allows() -> None:
    world, model, files = World(), Endless(DELETE_A), Files()
    paused = world.agent(model, files.all, limits=Limits(model_calls=1)).run("Go")
    result = world.agent(model, files.all, limits=Limits(model_calls=50)).resume(paused.session_id, reject("c2-0"))
    assert "1 model calls" in failure(result)


def test_r66_tool_calls_are_counted() -> None:
    model, files = Endless(READ, READ), Files()
    result = World().agent(model, files.all, limits=Limits(tool_calls=3)).run("Go")
    assert "3 tool calls" in failure(result)
    assert (asked(model), len(files.entries)) == (2, 3)


def test_r66_tokens_are_counted() -> None:
    model, files = Endless(READ, tokens=40), Files()
    result = World().agent(model, files.all, limits=Limits(tokens=100)).run("Go")
    assert "100 tokens" in failure(result)
    assert asked(model) == 3


def test_r66_time_is_counted_the_waiting_for_people_included() -> None:
    world, model, files = World(), Endless(DELETE_A), Files()
    paused = world.agent(model, files.all, limits=Limits(seconds=3600)).run("Go")
    world.clock.advance(hours=1)
    result = world.agent(model, files.all).resume(paused.session_id, reject("c2-0"))
    assert "3600 seconds" in failure(result)


def test_case_20_a_run_ends_at_its_first_pause() -> None:
    world, model, files = World(), Endless(DELETE_A), Files()
    assert world.agent(model, files.all).run("Go").status == "paused"
    assert (asked(model), len(world.mailbox.sent)) == (1, 1)


def test_case_20_case_27_r30_a_model_that_insists_is_stopped() -> None:
    """Rejected three times, the identical call is refused without asking; the budgets end the rest."""
    world, model, files = World(), Endless(DELETE_A), Files()
    agent = world.agent(model, files.all, limits=Limits(model_calls=6))
    result = agent.run("Go")
    rejections = 0
    while result.status == "paused":
        result = agent.resume(result.session_id, reject(result.pending_calls[0].call_id))
        rejections += 1
    assert rejections == 3
    assert len(world.mailbox.sent) == 3
    assert "6 model calls" in failure(result)
    assert files.entries == []
    first, second = (results_in(model.requests[number])[0][2] for number in (1, 4))
    assert "a person rejected this call and gave no reason. Do not repeat it" in first
    assert "rejected exactly this call" in second


def test_case_27_rejections_in_a_row_end_the_session() -> None:
    world, files = World(), Files()
    model = ScriptedModel([[("delete", {"path": str(number)})] for number in range(9)])
    agent = world.agent(model, files.all, limits=Limits(consecutive_rejections=4))
    result = agent.run("Go")
    while result.status == "paused":
        result = agent.resume(result.session_id, reject(result.pending_calls[0].call_id))
    assert "4 rejections in a row" in failure(result)
    assert asked(model) == 4


def test_r30_no_more_than_so_many_calls_wait_at_a_time() -> None:
    world, files = World(), Files()
    model = ScriptedModel([[("delete", {"path": str(number)}) for number in range(5)]])
    result = world.agent(model, files.all, limits=Limits(pending_calls=2)).run("Go")
    assert len(result.pending_calls) == len(world.mailbox.sent) == 2
    assert len(result.session.results) == 3
