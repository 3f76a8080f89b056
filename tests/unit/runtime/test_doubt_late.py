"""A tool that was given up for lost and reports after all; and the log of what became of a doubtful call."""

from __future__ import annotations

from typing import Any

import pytest

from pausepoint.domain.calls import Answer
from pausepoint.domain.events import CallReissued, DecisionRecorded, DoubtResolved, ExecutionRecorded, ToolResult
from tests.support.agents import results_in
from tests.support.recovery import DELETE, Fragile, Recovery


def late(fragile: Fragile, *meanwhile: Any) -> tuple[Recovery, str]:
    """Return a world in which the tool outlives its deadline while all this happens, and then comes back."""
    world = Recovery([[DELETE], "Done."], [fragile.tool])
    session_id = world.started()

    def long_after() -> None:
        fragile.meanwhile = None
        for act in meanwhile:
            act(world, session_id)

    fragile.deaths, fragile.meanwhile = 0, long_after
    world.press(session_id, "c2-0", "approved")
    queued, world.queue.woken = world.queue.woken, []
    for woken in queued:
        world.resumed(woken)
    return world, session_id


def doubt(world: Recovery, session_id: str) -> None:
    world.clock.advance(minutes=2)
    assert world.sweep()["Doubted"] == 1


def ask(world: Recovery, session_id: str) -> None:
    world.clock.advance(minutes=2)
    world.deliver()
    assert world.call(session_id).reconciled


def answer(word: Answer, *, deliver: bool = False) -> Any:
    def act(world: Recovery, session_id: str) -> None:
        world.say(session_id, "c2-0", word)
        if deliver:
            world.clock.advance(minutes=2)
            world.deliver()

    return act


@pytest.mark.parametrize("meanwhile", [(doubt,), (doubt, ask)])
def test_a_late_result_counts_while_the_call_is_in_doubt(meanwhile: Any) -> None:
    fragile = Fragile()
    world, session_id = late(fragile, *meanwhile)
    assert (world.call(session_id).status, world.call(session_id).outcome) == ("succeeded", "Deleted a.")
    world.pass_time(5)
    session = world.session(session_id)
    assert (session.head.status, session.results["c2-0"].text) == ("completed", "Deleted a.")
    assert (fragile.entries, world.types(session_id).count("tool_result")) == (["a"], 1)
    assert "doubt_resolved" not in world.types(session_id)


@pytest.mark.parametrize("word", ["happened", "did_not_happen", "run_again"])
@pytest.mark.parametrize("deliver", [False, True])
def test_a_late_result_does_not_count_after_an_answer(word: Answer, *, deliver: bool) -> None:
    fragile = Fragile()
    world, session_id = late(fragile, doubt, ask, answer(word, deliver=deliver))
    world.pass_time(5)
    session, call = world.session(session_id), world.call(session_id)
    assert call.resolution is not None
    assert (call.resolution.answer, call.status) == (word, "succeeded" if word == "happened" else "failed")
    assert "Deleted a." not in [event.text for event in session.events if isinstance(event, ToolResult)]
    assert (fragile.entries, world.types(session_id).count("doubt_resolved")) == (["a"], 1)
    assert session.head.status == ("paused" if word == "run_again" else "completed")
    assert len(results_in(world.model.requests[-1]) if word != "run_again" else [1]) == 1


@pytest.mark.parametrize("gated", [True, False])
@pytest.mark.parametrize("word", ["happened", "did_not_happen"])
def test_case_56_the_log_tells_what_was_decided_what_was_run_and_what_was_said(word: Answer, *, gated: bool) -> None:
    fragile = Fragile(requires_confirmation=gated)
    world = Recovery([[DELETE], "Done."], [fragile.tool])
    session_id = world.in_doubt()
    world.say(session_id, "c2-0", word, reason="I looked into the bucket.")
    world.deliver()
    assert world.types(session_id) == [
        "user_message",
        "assistant_turn",
        *(["decision"] if gated else []),
        "execution",
        "doubt_resolved",
        "tool_result",
        "assistant_turn",
    ]
    events, call = world.session(session_id).events, world.call(session_id)
    (executed,) = [event for event in events if isinstance(event, ExecutionRecorded)]
    assert call.execution is not None
    assert (executed.execution_id, executed.digest_run) == (call.execution.id, call.digest)
    assert (executed.status, executed.ended_at) == ("in_doubt", None)
    (resolved,) = [event for event in events if isinstance(event, DoubtResolved)]
    assert (resolved.answer, resolved.verified, resolved.reason) == (word, "link", "I looked into the bucket.")
    assert "link" in resolved.by


def test_case_56_the_log_tells_of_a_call_that_ran_again() -> None:
    fragile = Fragile()
    world = Recovery([[DELETE], "Done."], [fragile.tool])
    session_id = world.in_doubt()
    world.say(session_id, "c2-0", "run_again")
    world.deliver()
    (again,) = world.session(session_id).waiting_calls
    world.press(session_id, again.call_id, "approved")
    world.deliver()
    assert world.types(session_id)[2:] == [
        "decision",
        "execution",
        "doubt_resolved",
        "call_reissued",
        "decision",
        "execution",
        "tool_result",
        "assistant_turn",
    ]
    events = world.session(session_id).events
    (reissued,) = [event for event in events if isinstance(event, CallReissued)]
    assert (reissued.call_id, reissued.reissued_as, reissued.digest) == ("c2-0", again.call_id, again.digest)
    assert reissued.reissued_as == f"c{events.index(reissued) + 1}-0"
    assert [event.call_id for event in events if isinstance(event, DecisionRecorded)] == ["c2-0", again.call_id]
    assert [event.call_id for event in events if isinstance(event, ExecutionRecorded)] == ["c2-0", again.call_id]
