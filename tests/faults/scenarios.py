"""The scenarios of tier 0."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

from tests.faults.actors import Turn, caller, canceller, deliver, intruder, person, say, start, sweep
from tests.faults.explorer import Scenario
from tests.faults.recovery import Person
from tests.faults.scripts import Program

CALL: Final = "c2-0"
OTHER: Final = "c2-1"
INVOCATION_OVER: Final = timedelta(minutes=2)
TOO_LATE: Final = timedelta(hours=25)


def _asks(*names: str) -> Sequence[Turn]:
    """Return a script: a turn with these calls, then the end. Another runner gets another answer."""
    return (lambda actor: [(name, {"path": f"{actor}{index}"}) for index, name in enumerate(names)],)


def _scenario(name: str, turns: Sequence[Turn], actors: Mapping[str, Program], **changes: Any) -> Scenario:
    ordered = changes.pop("ordered", False)
    options = {"ordered": True} if ordered else {}
    begins = {} if "start" in actors else {"start": start(turns, **options)}
    everyone: dict[str, Program] = {**begins, **actors}
    return Scenario(name=name, actors=everyone, wakes=deliver(turns, **options), **changes)


DELETE: Final = _asks("delete")
TWO: Final = _asks("delete", "delete")
MIXED: Final = _asks("read", "delete", "send")
ASK: Final = _asks("ask")


def _wakes(turns: Sequence[Turn], count: int = 2, **options: Any) -> dict[str, Program]:
    program = deliver(turns, **options)
    return {f"wake{number}": program for number in range(1, count + 1)}


def _twice(word: str) -> dict[str, Program]:
    program = person(word, CALL)
    return {"a1": program, "a2": program}


def _during(turns: Sequence[Turn], **changes: Any) -> dict[str, Any]:
    """Return what the scenarios have in common in which an approved call runs while the time passes."""
    actors = {"a0": person("approved", CALL), "sweep": sweep(), **_wakes(turns)}
    return {"turns": turns, "actors": actors, "before": ("start", "a0"), "jumps": (INVOCATION_OVER,), **changes}


def _doubted(turns: Sequence[Turn], actors: Mapping[str, Program], **changes: Any) -> dict[str, Any]:
    """Return what those have in common in which a call is in doubt, and w0's tool has come back but has not said so."""
    everyone = {"a0": person("approved", CALL), "w0": deliver(turns), "s0": sweep(), "w9": deliver(turns), **actors}
    before = ("start", "a0", "w0*6", "time*120", "s0", "w9")
    return {"turns": turns, "actors": everyone, "before": before, **changes}


SCENARIOS: Final[tuple[Scenario, ...]] = (
    _scenario(
        "start",
        DELETE,
        {"start": start(DELETE), "again": start(DELETE), "sweep": sweep(), **_wakes(DELETE, 1)},
        jumps=(INVOCATION_OVER,),
        preemptions=1,
    ),
    _scenario("approve twice", DELETE, {**_twice("approved"), "sweep": sweep(), **_wakes(DELETE)}, before=("start",)),
    _scenario(
        "approve or reject",
        DELETE,
        {"a1": person("approved", CALL), "a2": person("rejected", CALL), "sweep": sweep(), **_wakes(DELETE)},
        before=("start",),
    ),
    _scenario(
        "decide while it starts",
        DELETE,
        {
            "start": start(DELETE),
            "a1": person("approved", CALL),
            "api": caller(DELETE, "rejected", CALL),
            "sweep": sweep(),
        },
    ),
    _scenario(
        "too late",
        DELETE,
        {"a1": person("approved", CALL), "sweep": sweep(), **_wakes(DELETE, 1)},
        before=("start",),
        jumps=(TOO_LATE,),
    ),
    _scenario("cut off", **_during(DELETE)),
    _scenario("cut off, tool raises", **_during(DELETE, outcomes={"delete": ValueError("no")})),
    _scenario("cut off, retry-safe", **_during(_asks("put"))),
    _scenario("cut off, reconciled", **_during(_asks("check"))),
    _scenario("cut off, asked again", **_during(DELETE, person=Person(doubt="run_again"), preemptions=1)),
    _scenario(
        "ungated",
        _asks("send"),
        {"start": start(_asks("send")), "sweep": sweep(), **_wakes(_asks("send"), 1)},
        jumps=(INVOCATION_OVER,),
    ),
    _scenario(
        "read first",
        _asks("read"),
        {"start": start(_asks("read")), "sweep": sweep(), **_wakes(_asks("read"), 1)},
        jumps=(INVOCATION_OVER,),
    ),
    _scenario(
        "in doubt",
        **_doubted(
            DELETE,
            {"d1": person("happened", CALL), "d2": person("run_again", CALL), **_wakes(DELETE, 1)},
            preemptions=1,
        ),
    ),
    _scenario(
        "in doubt, late failure",
        **_doubted(
            DELETE,
            {"d1": person("run_again", CALL), **_wakes(DELETE, 1)},
            outcomes={"delete": ValueError("no")},
        ),
    ),
    _scenario(
        "two calls",
        TWO,
        {"a1": person("approved", CALL), "a2": person("rejected", OTHER), **_wakes(TWO)},
        before=("start",),
    ),
    _scenario(
        "two calls in order",
        TWO,
        {"a1": person("approved", CALL), "a2": person("approved", OTHER), **_wakes(TWO, ordered=True)},
        before=("start",),
        ordered=True,
    ),
    _scenario(
        "three kinds",
        MIXED,
        {"start": start(MIXED), "a1": person("approved", "c2-1"), "sweep": sweep(), **_wakes(MIXED, 1)},
        jumps=(INVOCATION_OVER,),
        preemptions=1,
    ),
    _scenario(
        "cancel",
        DELETE,
        {"a1": person("approved", CALL), "cancel": canceller(), "sweep": sweep(), **_wakes(DELETE, 1)},
        before=("start",),
    ),
    _scenario(
        "message",
        DELETE,
        {"a1": person("rejected", CALL), "say": say(DELETE), "sweep": sweep(), **_wakes(DELETE, 1)},
        before=("start",),
    ),
    _scenario(
        "altered",
        DELETE,
        {"a1": person("approved", CALL), "intruder": intruder(CALL), **_wakes(DELETE, 1)},
        before=("start",),
    ),
    _scenario(
        "question",
        ASK,
        {"a1": person("answered:eu", CALL), "a2": person("answered:us", CALL), "sweep": sweep(), **_wakes(ASK)},
        before=("start",),
    ),
    _scenario(
        "question while it starts",
        ASK,
        {
            "start": start(ASK),
            "a1": person("answered:eu", CALL),
            "api": caller(ASK, "answered:us", CALL),
            "sweep": sweep(),
        },
    ),
    _scenario(
        "question, too late",
        ASK,
        {"a1": person("answered:eu", CALL), "sweep": sweep(), **_wakes(ASK, 1)},
        before=("start",),
        jumps=(TOO_LATE,),
    ),
    _scenario(
        "question, other words",
        ASK,
        {"a1": person("approved", CALL), "a2": person("answered:eu", CALL), "cancel": canceller(), **_wakes(ASK, 1)},
        before=("start",),
    ),
    _scenario(
        "question and call",
        _asks("ask", "delete"),
        {"a1": person("answered:eu", CALL), "a2": person("approved", OTHER), **_wakes(_asks("ask", "delete"))},
        before=("start",),
        preemptions=1,
    ),
    _scenario(
        "everybody",
        DELETE,
        {
            "start": start(DELETE),
            "a1": person("approved", CALL),
            "a2": person("rejected", CALL),
            "sweep": sweep(),
            **_wakes(DELETE),
        },
        jumps=(INVOCATION_OVER,),
        preemptions=1,
    ),
)
