"""`Agent(parallel=…)`: calls of a turn that nobody is asked about run at the same time, and are told in their order."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import pytest

from pausepoint import Tool, tool
from pausepoint.errors import ConfigurationError
from pausepoint.models.scripted import ScriptedModel, Turn
from tests.support.agents import World, results_in
from tests.support.tools import Files

PATIENCE = 30.0
wanted: ContextVar[str] = ContextVar("wanted", default="nothing")


class Crowd:
    """A tool that comes back when so many calls are inside it at once, and knows how many there ever were."""

    def __init__(self, size: int) -> None:
        self.most = 0
        self._inside = 0
        self._lock = threading.Lock()
        self._gate = threading.Barrier(size)

    def enter(self, wait: Callable[[float], object]) -> None:
        with self._lock:
            self._inside += 1
            self.most = max(self.most, self._inside)
        wait(PATIENCE)
        with self._lock:
            self._inside -= 1

    def tool(self) -> Tool:
        @tool
        def look(path: str) -> str:
            """Look at a file."""
            self.enter(self._gate.wait)
            if path == "broken":
                raise ValueError("it is broken")
            return f"{path}, for {wanted.get()}"

        return look


def looks(*paths: str) -> list[tuple[str, dict[str, Any]]]:
    return [("look", {"path": path}) for path in paths]


def test_calls_run_at_the_same_time_and_are_told_in_their_order() -> None:
    crowd, model = Crowd(3), ScriptedModel([looks("a", "broken", "c"), "Done."])
    wanted.set("us")

    result = World().agent(model, [crowd.tool()], parallel=3).run("Look")

    assert (result.status, crowd.most) == ("completed", 3)
    assert results_in(model.requests[1]) == [
        ("toolu_1_0", "success", "a, for us"),
        ("toolu_1_1", "error", "ValueError: it is broken"),
        ("toolu_1_2", "success", "c, for us"),
    ]


def test_no_more_run_at_the_same_time_than_the_agent_says() -> None:
    crowd = Crowd(2)

    result = World().agent([looks("a", "b", "c", "d"), "Done."], [crowd.tool()], parallel=2).run("Look")

    assert (result.status, crowd.most) == ("completed", 2)


def test_by_default_one_runs_after_the_other() -> None:
    crowd = Crowd(1)

    World().agent([looks("a", "b", "c"), "Done."], [crowd.tool()]).run("Look")

    assert crowd.most == 1


def test_in_an_ordered_session_one_runs_after_the_other() -> None:
    crowd = Crowd(1)

    World().agent([looks("a", "b", "c"), "Done."], [crowd.tool()], parallel=3, ordered=True).run("Look")

    assert crowd.most == 1


def test_one_that_does_not_come_back_is_an_error_and_the_others_are_not() -> None:
    release = threading.Event()

    @tool
    def look(path: str) -> str:
        """Look at a file."""
        return "never" if path == "b" and release.wait(PATIENCE) else path

    world, model = World(), ScriptedModel([looks("a", "b", "c"), "Done."])
    world.agent(model, [look], parallel=3).run("Look", context=world.invocation(3.05))
    release.set()

    assert [(status, text) for _, status, text in results_in(model.requests[1])] == [
        ("success", "a"),
        ("error", "The tool did not come back within 1 seconds."),
        ("success", "c"),
    ]


def test_it_costs_no_write_more_than_one_after_the_other() -> None:
    def commits(parallel: int) -> int:
        world, crowd = World(), Crowd(1)
        written: list[object] = []
        commit = world.store.commit

        def counted(what: Any) -> Any:
            written.append(what)
            return commit(what)

        world.store.commit = counted  # type: ignore[method-assign,assignment]
        world.agent([looks("a", "b", "c"), looks("d"), "Done."], [crowd.tool()], parallel=parallel).run("Look")
        return len(written)

    assert commits(3) == commits(1)


MIXED: list[Turn] = [
    [("read", {"path": "a"}), ("delete", {"path": "b"}), ("read", {"path": "c"}), ("unknown", {})],
    "Done.",
]


def test_i1_what_asks_a_person_waits_while_the_others_run() -> None:
    world, files = World(), Files()

    paused = world.agent(MIXED, files.all, parallel=8).run("Go")

    assert paused.status == "paused"
    assert (sorted(files.entered("read")), files.entered("delete")) == (["a", "c"], [])


@pytest.mark.parametrize("parallel", [0, -1, 1.5])
def test_what_is_no_number_of_calls_is_refused(parallel: float) -> None:
    with pytest.raises(ConfigurationError, match=f"'clerk': parallel is {parallel}; it is a whole number"):
        World().agent(["Done."], parallel=parallel)
