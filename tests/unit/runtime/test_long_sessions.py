"""Sessions and tools that take longer than one invocation: the work goes from hand to hand, and nothing is lost."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from pausepoint import AgentResult, Tool, tool
from pausepoint.domain.limits import Limits
from pausepoint.errors import ModelTimeout, ToolCutOff
from pausepoint.models.scripted import ScriptedModel
from pausepoint.runtime.ports import ModelReply, ModelRequest
from pausepoint.runtime.timing import call_within
from tests.support.agents import results_in
from tests.support.recovery import DELETE, Recovery
from tests.support.tools import Files

LIMIT = 60


class Thinker(ScriptedModel):
    """Takes its time for every turn, if it is given as much."""

    def __init__(self, world: Recovery, turns: Any, *, seconds: float) -> None:
        super().__init__(turns)
        self.world, self.seconds, self.moments = world, seconds, list[float]()

    def respond(self, request: ModelRequest) -> ModelReply:
        taken = min(self.seconds, request.timeout)
        self.world.clock.advance(seconds=taken)
        if taken < self.seconds:
            raise ModelTimeout("too slow")
        return super().respond(request)


def on_the_queue(world: Recovery, session_id: str, *, most: int) -> tuple[AgentResult, int]:
    """Deliver wake-ups to workers of 60 seconds each until the session rests; return how many it took."""
    for count in range(1, most + 1):
        assert world.queue.woken == [session_id]
        world.queue.woken.clear()
        before = world.clock.now()
        result = world.worker.resume(session_id, context=world.invocation(LIMIT, hand_over=LIMIT * 3 / 4))
        assert (world.clock.now() - before).total_seconds() <= LIMIT
        if result.status != "running":
            return result, count
        assert world.session(session_id).head.lease is None
    raise AssertionError("it goes from hand to hand for ever")


@pytest.mark.parametrize("seconds", [20, 40, 56])
def test_an_hour_of_model_calls_gets_done_by_workers_of_a_minute(seconds: float) -> None:
    turns = int(3600 / seconds)
    world, files = Recovery([], []), Files()
    world.tools = [files.read]
    script: list[Any] = [[("read", {"path": str(number)})] for number in range(turns)]
    world.options = {"limits": _limits(turns + 1)}
    world.model = Thinker(world, [*script, "Done."], seconds=seconds)
    handed = world.worker.run("Go", context=world.invocation(LIMIT, hand_over=0, answer=27))
    assert (handed.status, len(world.model.requests)) == ("running", 0)
    done, _ = on_the_queue(world, handed.session_id, most=2 * turns)
    assert (done.status, done.output) == ("completed", "Done.")
    assert files.entered("read") == [str(number) for number in range(turns)]
    assert len(world.model.requests) == turns + 1  # what was answered is not asked for again


def _limits(count: int) -> Limits:
    return Limits(model_calls=count, tool_calls=count)


def test_a_model_that_needs_more_than_a_whole_worker_has_fails_the_session_and_goes_no_further() -> None:
    world = Recovery([], [])
    world.model = Thinker(world, ["Done."], seconds=LIMIT + 1)
    handed = world.worker.run("Go", context=world.invocation(LIMIT, hand_over=20, answer=27))
    assert handed.status == "running"
    done, count = on_the_queue(world, handed.session_id, most=3)
    assert (done.status, count) == ("failed", 1)
    assert done.session.failure is not None
    assert done.session.failure.code == "model-timeout"


def slow(world: Recovery, *, seconds: float, timeout: float | None, gated: bool = False) -> tuple[Tool, list[str]]:
    entries: list[str] = []

    @tool(name="delete", timeout=timeout, requires_confirmation=gated)
    def delete(path: str) -> str:
        """Delete a file."""
        entries.append(path)
        world.clock.advance(seconds=seconds)
        return "Deleted."

    return delete, entries


@pytest.mark.parametrize("gated", [True, False])
def test_case_40_a_tool_that_needs_more_than_is_left_runs_on_the_queue_and_once(gated: bool) -> None:
    world = Recovery([[DELETE], "Done."], [])
    delete, entries = slow(world, seconds=40, timeout=45, gated=gated)
    world.tools = [delete]
    context = world.invocation(29, hand_over=20, answer=27)
    handed = world.worker.run("Go", context=context)
    if gated:
        world.press(handed.session_id, "c2-0", "approved")
        world.queue.woken.clear()
        handed = world.worker.resume(handed.session_id, context=context)
    assert (handed.status, entries) == ("running", [])
    done, count = on_the_queue(world, handed.session_id, most=2)
    assert (done.status, entries, count) == ("completed", ["a"], 1)


def test_a_tool_that_needs_more_than_the_rest_of_a_worker_gets_one_of_its_own() -> None:
    world = Recovery([[("wait", {}), DELETE], "Done."], [])
    delete, entries = slow(world, seconds=40, timeout=45)

    @tool
    def wait() -> None:
        """Wait."""
        world.clock.advance(seconds=20)

    world.tools = [delete, wait]
    session_id = world.worker.run("Go", context=world.invocation(LIMIT, hand_over=0)).session_id
    done, count = on_the_queue(world, session_id, most=3)
    assert (done.status, entries, count) == ("completed", ["a"], 2)


def test_a_tool_that_needs_more_than_there_ever_is_runs_all_the_same_and_is_not_handed_on_for_ever() -> None:
    world = Recovery([[DELETE], "Done."], [])
    delete, entries = slow(world, seconds=10, timeout=10_000)
    world.tools = [delete]
    session_id = world.worker.run("Go", context=world.invocation(29, hand_over=20, answer=27)).session_id
    assert entries == []
    done, count = on_the_queue(world, session_id, most=3)
    assert (done.status, entries, count) == ("completed", ["a"], 1)


def test_case_40_a_request_that_is_repeated_while_the_queue_works_runs_nothing_twice() -> None:
    world = Recovery([[DELETE], "Done."], [])
    delete, entries = slow(world, seconds=40, timeout=45)
    world.tools = [delete]

    def request() -> AgentResult:
        context = world.invocation(29, hand_over=20, answer=27)
        return world.worker.run("Go", context=context, idempotency_key="k")

    handed = request()
    assert request().session_id == handed.session_id
    world.queue.woken[:] = [handed.session_id]
    on_the_queue(world, handed.session_id, most=1)
    assert (request().status, entries, len(world.model.requests)) == ("completed", ["a"], 2)


def test_case_42_a_request_that_is_repeated_after_its_pause_on_the_queue_tells_nobody_again() -> None:
    world = Recovery([[DELETE], "Done."], Files().all)
    session_id = world.worker.run("Go", context=world.invocation(29, hand_over=0), idempotency_key="k").session_id
    on_the_queue(world, session_id, most=1)
    again = world.worker.run("Go", context=world.invocation(29), idempotency_key="k")
    assert (again.session_id, again.status) == (session_id, "paused")
    assert (len(world.mailbox.sent), len(world.call(session_id).token_hashes)) == (1, 1)
    assert world.pass_time(60) == {}


@pytest.fixture
def release() -> Iterator[threading.Event]:
    """Lets a tool that hangs go, at the latest when the test ends."""
    event = threading.Event()
    yield event
    event.set()


def hanging(release: threading.Event, *, retry_safe: bool, gated: bool = True) -> tuple[Tool, list[str]]:
    entries: list[str] = []

    @tool(requires_confirmation=gated, retry_safe=retry_safe)
    def delete(path: str) -> str:
        """Delete a file."""
        entries.append(path)
        if len(entries) == 1:
            release.wait(60)
        return f"Deleted {path}."

    return delete, entries


def cut_off(release: threading.Event, *, retry_safe: bool) -> tuple[Recovery, str, list[str]]:
    """Let an approved call hang in a worker that has no time left for it."""
    delete, entries = hanging(release, retry_safe=retry_safe)
    world = Recovery([[DELETE], "Done."], [delete])
    session_id = world.started()
    world.press(session_id, "c2-0", "approved")
    world.queue.woken.clear()
    world.worker.resume(session_id, context=world.invocation(3.05))
    return world, session_id, entries


def test_r42_a_tool_over_its_time_leaves_its_call_executing_and_then_in_doubt(release: threading.Event) -> None:
    world, session_id, entries = cut_off(release, retry_safe=False)
    session = world.session(session_id)
    assert (session.calls["c2-0"].status, session.head.status, session.head.lease) == ("executing", "running", None)
    world.pass_time(2)
    assert (world.call(session_id).status, world.session(session_id).head.status) == ("in_doubt", "paused")
    release.set()
    world.pass_time(2)
    assert (world.call(session_id).status, entries) == ("in_doubt", ["a"])


def test_r42_a_retry_safe_tool_over_its_time_runs_again(release: threading.Event) -> None:
    world, session_id, entries = cut_off(release, retry_safe=True)
    assert world.call(session_id).status == "executing"
    world.pass_time(3)
    assert (world.session(session_id).head.status, entries) == ("completed", ["a", "a"])


def test_r42_an_ungated_retry_safe_tool_over_its_time_is_an_error_that_the_model_reads(
    release: threading.Event,
) -> None:
    delete, _ = hanging(release, retry_safe=True, gated=False)
    world = Recovery([[DELETE], "Done."], [delete])
    done = world.worker.run("Go", context=world.invocation(3.05))
    assert done.status == "completed"
    assert results_in(world.model.requests[1]) == [
        ("toolu_1_0", "error", "The tool did not come back within 1 seconds.")
    ]


def test_what_comes_back_in_time_is_returned_or_raised() -> None:
    assert call_within(60, lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        call_within(60, lambda: 1 // 0)
    with pytest.raises(KeyboardInterrupt):
        call_within(60, _interrupted)


def _interrupted() -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("seconds", [0.01, 0, -5])
def test_what_does_not_come_back_in_time_is_given_up(seconds: float, release: threading.Event) -> None:
    with pytest.raises(ToolCutOff):
        call_within(seconds, lambda: release.wait(60))
