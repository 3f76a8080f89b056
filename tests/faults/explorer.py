"""Every schedule of a scenario, with one fault anywhere, over the product's own code.

A schedule is a sequence of steps; a step is one call of the outside world by one actor, or the clock going
on. States that have the same future are explored once and count with all schedules that lead on from them.
Where an actor's next call can neither be noticed by the others nor be changed by them, the others wait.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

from pausepoint.errors import LostRace
from tests.faults.actors import SESSION_ID, START
from tests.faults.recovery import Person, recovered
from tests.faults.scripts import Answer, Finished, Op, Program, run
from tests.faults.world import READS, Live, State, Stored, elsewhere, fingerprint, letter, on_store, still_landed
from tests.faults.world import unavailable as no_answer

TIME: Final = "time"
KINDS: Final = frozenset({"crash", "lost"})
MORE_KINDS: Final = frozenset({"crash", "lost", "gone", "down"})


@dataclass(frozen=True)
class Scenario:
    """Who meets whom.

    Attributes:
        before: a schedule that leads to where it gets interesting; its actors take no further part unless
            they are not through yet.
        jumps: by how much the clock may go on, in this order, at any point.
        outcomes: what tools give back, or raise, by name.
        preemptions: how often an actor may be interrupted where it could go on; None: as often as one likes.
        answers: what is said in the end of each call in doubt; by default the truth.
    """

    name: str
    actors: Mapping[str, Program]
    wakes: Program
    before: Sequence[str] = ()
    jumps: tuple[timedelta, ...] = ()
    outcomes: Mapping[str, Any] = field(default_factory=dict)
    preemptions: int | None = None
    person: Person = field(default_factory=Person)


@dataclass(frozen=True)
class Found:
    """A schedule after which something does not hold; `schedule` replays it."""

    schedule: str
    violations: tuple[str, ...]


@dataclass
class Report:
    """What exploring a scenario came to."""

    scenario: str
    schedules: int = 0
    states: int = 0
    endings: int = 0
    bad: int = 0
    found: list[Found] = field(default_factory=list)

    def __str__(self) -> str:
        return (
            f"{self.scenario:24} schedules {self.schedules:>16,}  states {self.states:>9,}  "
            f"endings {self.endings:>7,}  violations: {self.bad}"
        )


class Stop(Exception):
    """Enough was found."""


class Explorer:
    """Explores one scenario.

    Args:
        kinds: of faults: `crash` (the process dies after a call, or before its first), `lost` (a write landed,
            its answer did not, and is asked for again; elsewhere: the caller gets Unavailable after the
            effect), `gone` (the same, and all repetitions fail), `down` (nothing landed).
        naive: a lost answer is read as a conflict: the mutant.
        enough: violating endings after which to stop.
    """

    def __init__(
        self,
        scenario: Scenario,
        *,
        kinds: frozenset[str] = KINDS,
        naive: bool = False,
        sweeping: bool = True,
        enough: int = 5,
    ) -> None:
        self.scenario = scenario
        self._kinds = kinds
        self._naive = naive
        self._sweeping = sweeping
        self._enough = enough
        self._next: dict[tuple[str, int], Op | Finished] = {}
        self._programs = dict(scenario.actors)
        names = list(self._programs)
        self._twins = {
            name: [twin for twin in names[: names.index(name)] if self._programs[twin] is self._programs[name]]
            for name in names
        }
        self._seen: dict[int, tuple[int, int]] = {}
        self._endings: dict[int, tuple[str, ...]] = {}
        self._path: list[str] = []
        self.report = Report(scenario.name)

    def explore(self) -> Report:
        """Run everything, and return what came of it."""
        sys.setrecursionlimit(20_000)
        try:
            schedules, bad = self._explore(self._beginning(), current=None, left=self.scenario.preemptions)
            self.report.schedules, self.report.bad = schedules, bad
        except Stop:
            self.report.bad = max(1, len(self.report.found))
        self.report.states, self.report.endings = len(self._seen), len(self._endings)
        return self.report

    def replay(self, schedule: str) -> tuple[State, tuple[str, ...]]:
        """Run one schedule, and return the state before recovery, and what does not hold in the end."""
        state = self._beginning()
        for step in schedule.split():
            state = self._step(state, *_parsed(step))
        return state, self._ending(state)

    def _beginning(self) -> State:
        stored = Stored({}, {})
        state = State(stored=Stored.of(stored.opened()), clock=START, live={})
        begun: set[str] = set()
        for step in self.scenario.before:
            name, _, times = step.partition("*")
            if name == TIME:
                overtaken = state.overtaken + len(state.live)
                state = state.but(clock=state.clock + timedelta(seconds=float(times)), overtaken=overtaken)
                continue
            if name not in begun:
                state = self._begun(state, name)
                begun.add(name)
            state = self._carried(state, name, int(times) if times else None)
        return state.but(
            live={
                **{name: None for name in self.scenario.actors if name not in begun},
                **state.live,
            },
        )

    def _carried(self, state: State, name: str, times: int | None) -> State:
        done = 0
        while name in state.live and (times is None or done < times):
            state = self._step(state.but(fault="none"), name, "")
            done += 1
        return state.but(fault=None)

    def _step(self, state: State, name: str, suffix: str) -> State:
        return next(after for actor, how, after in self._steps(state, only=name) if (actor, how) == (name, suffix))

    def _explore(self, state: State, *, current: str | None, left: int | None) -> tuple[int, int]:
        key = state.key() if left is None else hash((state.key(), current, left))
        if (known := self._seen.get(key)) is not None:
            return known
        schedules = bad = 0
        alone = next((name for name in state.live if self._alone(state, name)), None)
        for actor, suffix, after in self._choices(state, alone, current, left):
            self._path.append(actor + suffix)
            if left is None:
                counted = self._explore(after, current=None, left=None)
            elif actor == TIME or alone is not None:
                counted = self._explore(after, current=current, left=left)
            else:
                interrupts = current is not None and actor != current and self._could_go_on(state, current)
                counted = self._explore(after, current=actor, left=left - interrupts)
            self._path.pop()
            schedules, bad = schedules + counted[0], bad + counted[1]
        if not schedules:
            broken = self._ending(state)
            schedules, bad = 1, int(bool(broken))
            if broken:
                self._report(broken)
        self._seen[key] = (schedules, bad)
        return schedules, bad

    def _report(self, broken: tuple[str, ...]) -> None:
        self.report.found.append(Found(" ".join(self._path), broken))
        if len(self.report.found) >= self._enough:
            raise Stop

    def _choices(self, state: State, alone: str | None, current: str | None, left: int | None) -> Iterator[Step]:
        if alone is not None:
            yield from self._steps(state, only=alone)
        elif left == 0 and current is not None and self._could_go_on(state, current):
            yield from self._steps(state, only=current)
            yield from self._steps(state, only=TIME)
        else:
            yield from self._steps(state)

    def _could_go_on(self, state: State, name: str) -> bool:
        return name in state.live and self._enabled(state, name)

    def _alone(self, state: State, name: str) -> bool:
        """Whether what an actor does next commutes with everything the others may do."""
        actor = state.live[name]
        if actor is None or state.jumps < len(self.scenario.jumps):
            return False
        if actor.op.port == "queue":
            return actor.op.method == "wake" and None not in state.live.values()
        return actor.op.port in ("model", "notifier", "tool") and actor.op.method != "reconcile"

    def _enabled(self, state: State, name: str) -> bool:
        actor = state.live[name]
        if actor is None and any(
            state.live.get(twin, actor) is None and twin in state.live for twin in self._twins[name]
        ):
            return False  # of two who do the same, the first begins first
        op = actor.op if actor else self._op(self._begun(state, name), name)
        if op is None:
            return True
        if op.port == "mailbox":
            return letter(state, *op.args) is not None
        if op.port in ("queue", "intruder") and op.method != "wake":
            return SESSION_ID in state.stored.sessions
        return True

    def _op(self, state: State, name: str) -> Op | None:
        actor = state.live.get(name)
        return actor.op if actor else None

    def _begun(self, state: State, name: str) -> State:
        answers: tuple[Answer, ...] = ((None, state.clock),)
        return self._went_on(state, name, answers, hash((name, state.clock)))

    def _went_on(self, state: State, name: str, answers: tuple[Answer, ...], mark: int) -> State:
        outcome = self._next.get((name, mark))
        if outcome is None:
            outcome = self._next[name, mark] = run(self._programs[name], name, answers)
        if isinstance(outcome, Op):
            return state.but(live={**state.live, name: Live(answers, mark, outcome)})
        again = ("again",) in outcome.notes
        notes = frozenset(note for note in outcome.notes if note != ("again",))
        return self._left(state.but(notes=state.notes | notes), name, again=again)

    def _left(self, state: State, name: str, *, again: bool) -> State:
        """Take an actor away; a message that it did not finish with comes again."""
        back = again and name in state.holding
        live = {other: actor for other, actor in state.live.items() if other != name}
        return state.but(live=live, queue=state.queue + back, holding=state.holding - {name})

    def _steps(self, state: State, *, only: str | None = None) -> Iterator[Step]:
        jumps = self.scenario.jumps[state.jumps :]
        for name, actor in state.live.items():
            if only not in (None, name) or not self._enabled(state, name):
                continue
            yield from self._steps_of(state, name)
            if actor is None and state.fault is None and "crash" in self._kinds:
                yield name, "!never", self._left(state.but(fault="crash"), name, again=True)
        if jumps and state.live and only in (None, TIME):
            yield TIME, "", _later(state, jumps[0])

    def _steps_of(self, state: State, name: str) -> Iterator[Step]:
        state = state if state.live[name] else self._begun(state, name)
        actor = state.live.get(name)
        if actor is None:
            yield name, "", state
            return
        for suffix, after, answer in self._called(state, name, actor):
            if suffix == "!crash":
                yield name, suffix, self._left(after, name, again=True)
            elif answer is _WAITS:
                yield name, suffix, after
            else:
                yield name, suffix, self._heard(after, name, actor, answer)
                if not suffix and state.jumps < len(self.scenario.jumps):
                    later = _later(after, self.scenario.jumps[state.jumps])
                    yield name, "+", self._heard(later, name, actor, answer)

    def _heard(self, state: State, name: str, actor: Live, answer: Any) -> State:
        # `landed` is no part of it: a lost answer that is heard in the end changes nothing.
        mark = hash((actor.landed[2].mark if actor.landed else actor.mark, fingerprint(answer), state.clock))
        return self._went_on(state, name, (*actor.answers, (answer, state.clock)), mark)

    def _called(self, state: State, name: str, actor: Live) -> Iterator[tuple[str, State, Any]]:
        """Yield what the call may come to: as it should, and with each fault."""
        op, may_fail = actor.op, state.fault is None
        if op.port == "store":
            if actor.landed is not None:
                # Its answer, late or true, is heard by the actor as it was before it was lost.
                yield "", *self._repeated(state, actor)
                return
            effect = on_store(state.stored, op, actor.mark)
            landed = state.but(stored=effect.stored, broken=state.broken + effect.broken)
            answer: Any = effect.answer
        else:
            landed, answer = elsewhere(state, name, op, self.scenario.outcomes)
            effect = None
        yield "", landed, answer
        if not may_fail or op.port in ("mailbox", "intruder"):
            return
        harmless = op.port == "store" and (op.method in READS or isinstance(answer, Exception))
        if "crash" in self._kinds:
            yield "!crash", landed.but(fault="crash"), None
        if effect is not None and not harmless and "lost" in self._kinds:
            mark = hash((actor.mark, "landed"))
            waiting = Live(actor.answers, mark, op, landed=(effect.answer, effect.touched, actor))
            yield "!lost", landed.but(fault="lost", live={**landed.live, name: waiting}), _WAITS
        if (op.port, op.method) in _REMOTE and "lost" in self._kinds:
            yield "!lost", landed.but(fault="gone"), no_answer()
        if op.port == "store" and not harmless and "gone" in self._kinds:
            yield "!gone", landed.but(fault="gone"), no_answer()
        if (op.port == "store" or (op.port, op.method) in _REMOTE) and "down" in self._kinds:
            yield "!down", state.but(fault="down"), no_answer()

    def _repeated(self, state: State, actor: Live) -> tuple[State, Any]:
        """Ask again for what landed: success where a row still carries the write's nonce, else what is true now."""
        assert actor.landed is not None
        answer, touched = actor.landed[:2]
        if not self._naive and still_landed(state, touched):
            return state, answer
        effect = on_store(state.stored, actor.op, hash((actor.mark, "again")))
        answer = effect.answer
        if self._naive and not isinstance(answer, Exception):
            return state, LostRace("it was written before")
        return state.but(stored=effect.stored, broken=state.broken + effect.broken), answer

    def _ending(self, state: State) -> tuple[str, ...]:
        key = state.rest_key()
        known = self._endings.get(key)
        if known is None:
            known = recovered(state, self.scenario.wakes, self.scenario, sweeping=self._sweeping)
            self._endings[key] = known
        return known


Step = tuple[str, str, State]
"""Who, how (nothing, a fault, or `+`: the clock goes on before the answer is heard), and what comes of it."""

_WAITS: Final = object()
_REMOTE: Final = frozenset({("notifier", "send"), ("queue", "wake"), ("model", "ask")})


def _parsed(step: str) -> tuple[str, str]:
    name, mark, kind = step.partition("!")
    return (name, mark + kind) if mark or not name.endswith("+") else (name.removesuffix("+"), "+")


def _later(state: State, duration: timedelta) -> State:
    """Let time pass: each actor on its way may lose its lease by it."""
    under_way = sum(actor is not None for actor in state.live.values())
    return state.but(clock=state.clock + duration, jumps=state.jumps + 1, overtaken=state.overtaken + under_way)
