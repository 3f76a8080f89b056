"""Several calls in one turn: each to its own decision, each exactly one result."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest

from pausepoint import tool
from pausepoint.domain.calls import Verdict
from pausepoint.errors import AlreadyDecided
from pausepoint.models.scripted import ScriptedModel
from pausepoint.runtime.ports import ModelReply, RequestedCall
from tests.support.agents import World, approve, asked, reject, results_in, statuses
from tests.support.tools import Files

DELETE_A, DELETE_B, READ = ("delete", {"path": "a"}), ("delete", {"path": "b"}), ("read", {"path": "c"})


def test_case_15_three_gated_calls_are_three_records_three_links_and_three_decisions() -> None:
    world, files = World(), Files()
    model = ScriptedModel([[DELETE_A, DELETE_A, DELETE_B], "Done."])
    paused = world.agent(model, files.all).run("Delete a twice, and b")
    assert statuses(paused) == {"c2-0": "pending", "c2-1": "pending", "c2-2": "pending"}
    assert [notice.call_id for notice in world.mailbox.sent] == ["c2-0", "c2-1", "c2-2"]
    assert len({world.token(paused.session_id, call.call_id) for call in paused.pending_calls}) == 3
    verdicts: dict[str, Verdict] = {"c2-1": "approved", "c2-2": "rejected", "c2-0": "rejected"}
    for call_id, verdict in verdicts.items():
        world.press(paused.session_id, call_id, verdict)
    done = world.agent(model, files.all).resume(paused.session_id)
    assert statuses(done) == {"c2-0": "rejected", "c2-1": "succeeded", "c2-2": "rejected"}
    assert files.entered("delete") == ["a"]


def test_case_16_the_ungated_call_runs_once_and_its_result_survives_the_pause() -> None:
    world, files = World(), Files()
    model = ScriptedModel([[DELETE_A, READ], "Done."])
    paused = world.agent(model, files.all).run("Delete a, read c")
    assert (paused.status, files.entries) == ("paused", [("read", "c")])
    assert len(world.mailbox.sent) == 1
    assert set(world.session(paused.session_id).results) == {"c2-1"}
    done = world.agent(model, files.all).resume(paused.session_id, approve("c2-0"))
    assert done.status == "completed"
    assert files.entries == [("read", "c"), ("delete", "a")]
    assert results_in(model.requests[1]) == [
        ("toolu_1_0", "success", "Deleted a."),
        ("toolu_1_1", "success", "content of c"),
    ]


def test_case_17_four_calls_and_a_cold_process_for_each_request() -> None:
    world, files = World(), Files()
    model = ScriptedModel([[DELETE_A, READ, ("send", {"to": "maria"}), DELETE_B], "Done."])
    session_id = world.agent(model, files.all).run("All four").session_id
    world.press(session_id, "c2-3", "approved")
    assert world.agent(model, files.all).resume(session_id).status == "paused"
    world.press(session_id, "c2-0", "approved")
    assert world.agent(model, files.all).resume(session_id).status == "completed"
    assert [identifier for identifier, _, _ in results_in(model.requests[1])] == [f"toolu_1_{n}" for n in range(4)]
    assert files.entries == [("read", "c"), ("send", "maria"), ("delete", "b"), ("delete", "a")]


@pytest.mark.parametrize("order", list(permutations(["c2-0", "c2-1"])))
def test_case_18_approved_rejected_and_ungated_each_have_one_result(order: tuple[str, str]) -> None:
    world, files = World(), Files()
    model = ScriptedModel([[DELETE_A, DELETE_B, READ], "Done."])
    session_id = world.agent(model, files.all).run("Delete a and b, read c").session_id
    for call_id in order:
        world.press(session_id, call_id, "approved" if call_id == "c2-0" else "rejected", reason="keep it")
        world.agent(model, files.all).resume(session_id)
    first, second, third = results_in(model.requests[1])
    assert first == ("toolu_1_0", "success", "Deleted a.")
    assert second[:2] == ("toolu_1_1", "error")
    assert "keep it" in second[2]
    assert third == ("toolu_1_2", "success", "content of c")
    assert sorted(files.entries) == [("delete", "a"), ("read", "c")]
    assert asked(model) == 2


def test_case_06_a_call_that_is_rejected_while_others_still_run_is_entered_by_no_path() -> None:
    world, entries = World(), list[str]()

    @tool(requires_confirmation=True)
    def delete(path: str) -> str:
        """Delete; while a is deleted, b is rejected, and somebody tries every way to have it run."""
        entries.append(path)
        if path == "a":
            world.press(session_id, "c2-1", "rejected")
            for attempt in (
                lambda: world.press(session_id, "c2-1", "approved"),
                lambda: world.agent(model, [delete]).resume(session_id, approve("c2-1")),
            ):
                with pytest.raises(AlreadyDecided):
                    attempt()
            world.agent(model, [delete]).resume(session_id)
        return f"Deleted {path}."

    model = ScriptedModel([[DELETE_A, DELETE_B], "Done."])
    session_id = world.agent(model, [delete]).run("Delete a and b").session_id
    done = world.agent(model, [delete]).resume(session_id, approve("c2-0"))
    world.agent(model, [delete]).resume(session_id)
    assert (done.status, entries) == ("completed", ["a"])
    assert statuses(done) == {"c2-0": "succeeded", "c2-1": "rejected"}


@pytest.mark.parametrize("order", list(permutations(["c2-0", "c2-1"])))
@pytest.mark.parametrize("verdicts", [("approved", "approved"), ("approved", "rejected"), ("rejected", "rejected")])
def test_the_model_is_called_once_after_the_second_of_two_decisions(
    order: tuple[str, str], verdicts: tuple[Verdict, Verdict]
) -> None:
    world, files = World(), Files()
    model = ScriptedModel([[DELETE_A, DELETE_B], "Done."])
    session_id = world.agent(model, files.all).run("Delete a and b").session_id
    counted = []
    for call_id, verdict in zip(order, verdicts, strict=True):
        world.press(session_id, call_id, verdict)
        world.agent(model, files.all).resume(session_id)
        counted.append(asked(model))
    assert counted == [1, 2]
    assert world.session(session_id).head.status == "completed"


def test_case_19_a_decision_now_and_one_tomorrow() -> None:
    world, files = World(), Files()
    model = ScriptedModel([[DELETE_A, DELETE_B], "Done."])
    options = {"approval_time": world.agent([]).approval_time * 2}
    session_id = world.agent(model, files.all, **options).run("Delete a and b").session_id
    world.press(session_id, "c2-0", "approved")
    between = world.agent(model, files.all).resume(session_id)
    assert (between.status, files.entered("delete")) == ("paused", ["a"])
    assert [call.call_id for call in between.pending_calls] == ["c2-1"]
    world.clock.advance(days=1)
    world.press(session_id, "c2-1", "approved")
    assert world.agent(model, files.all).resume(session_id).status == "completed"
    assert files.entered("delete") == ["a", "b"]
    assert [notice.call_id for notice in world.mailbox.sent] == ["c2-0", "c2-1"]


def test_case_21_the_same_provider_id_in_two_sessions_is_no_cross_talk() -> None:
    world, files = World(), Files()

    def ask(path: str) -> ModelReply:
        content = [{"toolUse": {"toolUseId": "toolu_1", "name": "delete", "input": {"path": path}}}]
        call = RequestedCall("toolu_1", "delete", {"path": path})
        return ModelReply({"role": "assistant", "content": content}, "", "tool_use", (call,))

    one = world.agent([ask("a")], files.all).run("Delete a")
    two = world.agent([ask("b")], files.all).run("Delete b")
    world.press(one.session_id, "c2-0", "approved")
    world.agent(["Done."], files.all).resume(two.session_id)
    assert files.entries == []
    world.agent(["x", "Done."], files.all).resume(one.session_id)
    assert files.entered("delete") == ["a"]
    assert world.store.call(two.session_id, "c2-0").status == "pending"


def test_a_call_that_is_refused_does_not_keep_the_others_from_running() -> None:
    world, files = World(), Files()
    model = ScriptedModel([[("destroy", {}), ("read", {}), READ], "Done."])
    world.agent(model, files.all).run("Go")
    assert [status for _, status, _ in results_in(model.requests[1])] == ["error", "error", "success"]
    assert files.entries == [("read", "c")]


class TestOrdered:
    """`Agent(ordered=True)`: a call waits for all earlier calls of its turn."""

    def agent(self, world: World, model: ScriptedModel, files: Files) -> Any:
        return world.agent(model, files.all, ordered=True)

    def test_nothing_runs_before_the_first_call_is_decided(self) -> None:
        world, files, model = World(), Files(), ScriptedModel([[DELETE_A, READ, DELETE_B], "Done."])
        paused = self.agent(world, model, files).run("In this order")
        assert (paused.status, files.entries) == ("paused", [])
        self.agent(world, model, files).resume(paused.session_id, approve("c2-2"))
        assert files.entries == []
        done = self.agent(world, model, files).resume(paused.session_id, approve("c2-0"))
        assert done.status == "completed"
        assert files.entries == [("delete", "a"), ("read", "c"), ("delete", "b")]

    def test_a_rejection_lets_the_next_ones_go_on(self) -> None:
        world, files, model = World(), Files(), ScriptedModel([[DELETE_A, READ], "Done."])
        paused = self.agent(world, model, files).run("In this order")
        self.agent(world, model, files).resume(paused.session_id, reject("c2-0"))
        assert files.entries == [("read", "c")]

    def test_the_session_keeps_its_order_though_a_new_process_has_none(self) -> None:
        world, files, model = World(), Files(), ScriptedModel([[DELETE_A, DELETE_B], "Done."])
        paused = self.agent(world, model, files).run("In this order")
        world.agent(model, files.all, ordered=False).resume(paused.session_id, approve("c2-1"))
        assert files.entries == []
