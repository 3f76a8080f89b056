"""The tool's own check is asked before a person is, and what it finds stands like an answer."""

from __future__ import annotations

from typing import Any

import pytest

from pausepoint import Tool, ToolContext, tool
from pausepoint.domain.events import DoubtResolved
from pausepoint.runtime.notices import DOUBT_SUBJECT
from tests.support.agents import results_in
from tests.support.recovery import DELETE, Fragile, Recovery


def cut_off(fragile: Fragile, tools: list[Tool] | None = None) -> tuple[Recovery, str]:
    """Return a world in which the call was cut off and time has passed; `tools` are those of the next deployment."""
    world = Recovery([[DELETE], "Done."], [fragile.tool])
    session_id = world.started()
    world.press(session_id, "c2-0", "approved")
    world.deliver()
    if tools is not None:
        world.tools = tools
    world.pass_time(3)
    return world, session_id


@pytest.mark.parametrize(
    ("found", "status", "told", "words"),
    [
        (True, "succeeded", "success", "the effect did happen"),
        (False, "failed", "error", "the effect did not happen"),
        ("Deleted a, as the journal says.", "succeeded", "success", "Deleted a, as the journal says."),
        ("", "succeeded", "success", "(no output)"),
    ],
)
@pytest.mark.parametrize("gated", [True, False])
def test_what_it_finds_is_the_result_and_nobody_is_asked(
    found: Any, status: str, told: str, words: str, *, gated: bool
) -> None:
    fragile = Fragile(requires_confirmation=gated, found=found)
    world = Recovery([[DELETE], "Done."], [fragile.tool])
    session_id = world.started()
    if gated:
        world.press(session_id, "c2-0", "approved")
        world.deliver()
    world.pass_time(3)
    session = world.session(session_id)
    assert (fragile.entries, fragile.asked) == (["a"], [{"path": "a"}])
    assert (session.head.status, session.calls["c2-0"].status) == ("completed", status)
    ((_, seen, text),) = results_in(world.model.requests[1])
    assert seen == told
    assert words in text
    assert DOUBT_SUBJECT not in [notice.subject for notice in world.mailbox.sent]
    (resolved,) = [event for event in session.events if isinstance(event, DoubtResolved)]
    assert (resolved.by, resolved.verified) == ("delete's own check", "reconcile")


@pytest.mark.parametrize("found", [RuntimeError("the journal is away"), SystemExit(1)])
def test_when_it_cannot_say_a_person_is_asked(found: Any) -> None:
    _asked_of_a_person(*cut_off(Fragile(found=found)))


def test_when_it_does_not_know_a_person_is_asked_and_it_is_not_asked_again() -> None:
    fragile = Fragile(found=True)
    fragile.found = None
    world, session_id = cut_off(fragile)
    _asked_of_a_person(world, session_id)
    assert len(fragile.asked) == 1


def test_without_one_a_person_is_asked() -> None:
    _asked_of_a_person(*cut_off(Fragile()))


def test_a_tool_that_is_gone_is_not_asked_but_a_person() -> None:
    fragile = Fragile(found=True)
    _asked_of_a_person(*cut_off(fragile, tools=[]))
    assert fragile.asked == []


def test_a_tool_that_changed_is_not_asked_but_a_person() -> None:
    asked: list[Any] = []

    def look(arguments: Any, _: ToolContext) -> bool:
        asked.append(arguments)
        return True

    @tool(requires_confirmation=True, reconcile=look)
    def delete(path: str, version: int = 1) -> None:
        """Delete a file."""

    _asked_of_a_person(*cut_off(Fragile(found=True), tools=[delete]))
    assert asked == []


def test_it_is_given_the_arguments_that_ran_when_the_approver_changed_them() -> None:
    fragile = Fragile(found=True)
    world = Recovery([[DELETE], "Done."], [fragile.tool])
    session_id = world.started()
    world.edit(session_id, "c2-0", {"path": "b"})
    world.pass_time(3)
    assert (fragile.entries, fragile.asked) == (["b"], [{"path": "b"}])
    ((_, _, text),) = results_in(world.model.requests[1])
    assert 'from {"path":"a"} to {"path":"b"}' in text
    assert text.endswith(
        "The process died while the tool ran. It was checked: the effect did happen. Its result is lost."
    )


def _asked_of_a_person(world: Recovery, session_id: str) -> None:
    world.pass_time(60)
    call = world.call(session_id)
    assert (call.status, call.reconciled, world.session(session_id).head.status) == ("in_doubt", True, "paused")
    assert [notice.subject for notice in world.mailbox.sent].count(DOUBT_SUBJECT) == 1
