"""Tier 2: long random lives of a session, checked after every step and at the end."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from pausepoint.adapters.dynamodb.bodies import Bodies
from pausepoint.adapters.dynamodb.store import DynamoDBStore
from pausepoint.domain.calls import PendingToolCall
from pausepoint.domain.session import Session, SessionStatus
from pausepoint.errors import NotFound, PausepointError
from pausepoint.runtime.cancelling import cancel
from pausepoint.runtime.context import Services
from pausepoint.runtime.system import new_id
from tests.faults.actors import SESSION_ID, START, Turn, deliver, post, say, start, sweep
from tests.faults.invariants import violations
from tests.faults.recovery import Mended, Person, answer, rest, unended
from tests.faults.scripts import running
from tests.faults.world import State, Stored
from tests.support.aws import client, create_table, locked_moto
from tests.support.bucket import Bucket

THOROUGH = os.environ.get("FAULTS") == "thorough"
TOOLS = st.sampled_from(["delete", "put", "check", "send", "read"])
TURNS = st.lists(st.lists(TOOLS, min_size=1, max_size=3), min_size=1, max_size=3)

pytestmark = pytest.mark.faults


class Killed(BaseException):
    """The process is gone. Nothing catches it."""


class Mortal(Mended):
    """A world in which processes die: `fuse` counts the calls, before and after, until one does."""

    def __init__(self, state: State, setting: Any) -> None:
        super().__init__(state, setting)
        self.fuse: int | None = None
        self.killed = 0
        self.store.history, self.store.statuses = [], []

    def tick(self) -> None:
        if self.fuse is None:
            return
        self.fuse -= 1
        if self.fuse < 0:
            self.fuse = None
            self.killed += 1
            raise Killed

    def call(self, port: str, method: str, *args: Any, **kwargs: Any) -> Any:
        self.tick()
        result = super().call(port, method, *args, **kwargs)
        self.tick()
        return result

    def services(self) -> Services:
        return replace(super().services(), store=_Fused(self, self.kept()))

    def kept(self) -> Any:
        return self.store

    def evidence(self, *, quiescent: bool) -> Any:
        found = super().evidence(quiescent=quiescent)
        return replace(found, crashes=self.killed, lost_answers_only=self.killed == 0)


class OnTable(Mortal):
    """The same over a table."""

    def __init__(self, state: State, setting: Any) -> None:
        super().__init__(state, setting)
        dynamodb = client("dynamodb")
        create_table(dynamodb, "sessions")
        self._table = DynamoDBStore(dynamodb, "sessions", new_id, Bodies(Bucket(), "overflow"))

    def kept(self) -> Any:
        return self._table

    def session(self) -> Session | None:
        try:
            return self._table.load(SESSION_ID)
        except NotFound:
            return None


class _Fused:
    def __init__(self, world: Mortal, store: Any) -> None:
        self._world, self._store = world, store

    def __getattr__(self, method: str) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            self._world.tick()
            result = getattr(self._store, method)(*args, **kwargs)
            self._world.tick()
            return result

        return call


class Life(RuleBasedStateMachine):
    """One session, from its start to its end."""

    person = Person()
    world_of: type[Mortal] = Mortal
    lives = 0
    steps = 0

    def __init__(self) -> None:
        super().__init__()
        self.stack = ExitStack()
        self.outcomes: dict[str, Any] = {}

    @initialize(turns=TURNS, ordered=st.booleans())
    def begin(self, turns: list[list[str]], ordered: bool) -> None:
        if self.world_of is OnTable:
            self.stack.enter_context(locked_moto())
        type(self).lives += 1
        self.turns: list[Turn] = [_turn(names) for names in turns]
        self.options = {"ordered": ordered}
        stored = Stored({}, {})
        self.world = self.world_of(State(stored=Stored.of(stored.opened()), clock=START, live={}), self)
        self.stack.enter_context(running(self.world))
        self.wakes = deliver(self.turns, **self.options)
        self.perform(lambda: start(self.turns, **self.options)(self.world))  # type: ignore[arg-type]

    def perform(self, act: Callable[[], object]) -> None:
        """Do something in a process of its own; it may die there, and its message then comes again."""
        type(self).steps += 1
        with suppress(Killed):
            act()
        world = self.world
        back = len(world.state.holding) if world.fuse is None and world.killed else 0
        world.fuse = None
        world.state = world.state.but(holding=frozenset(), queue=world.state.queue + back)

    @rule(calls=st.integers(0, 30))
    def the_next_process_dies(self, calls: int) -> None:
        self.world.fuse = calls

    @rule()
    def start_again(self) -> None:
        self.perform(lambda: start(self.turns, **self.options)(self.world))  # type: ignore[arg-type]

    @rule()
    def message(self) -> None:
        self.perform(lambda: say(self.turns)(self.world))  # type: ignore[arg-type]

    @rule(times=st.sampled_from([0, 1, 2, 5]))
    def wake(self, times: int) -> None:
        for _ in range(times):
            self.perform(lambda: self.wakes(self.world))  # type: ignore[arg-type]

    @rule()
    def sweep(self) -> None:
        self.perform(lambda: sweep()(self.world))  # type: ignore[arg-type]

    @rule(index=st.integers(0, 5), word=st.sampled_from(["approved", "approved", "rejected"]))
    def decide(self, index: int, word: str) -> None:
        self.post(index, word)

    @rule(index=st.integers(0, 5), word=st.sampled_from(["happened", "did_not_happen", "run_again"]))
    def say_what_happened(self, index: int, word: str) -> None:
        self.post(index, word)

    def post(self, index: int, word: str) -> None:
        session = self.world.session()
        calls = sorted(session.calls.values(), key=lambda call: call.call_id) if session else []
        if not calls:
            return
        call = calls[index % len(calls)]
        self.perform(lambda: self.posted(call, word))

    def posted(self, call: PendingToolCall, word: str) -> None:
        with suppress(PausepointError):
            told = post(self.world.services(), call, word, token=None)
            notes = {("told", call.call_id, told)} if told else set()
            self.world.state = self.world.state.but(notes=self.world.state.notes | notes)

    @rule(seconds=st.sampled_from([1, 31, 61, 120, 3600, 25 * 3600]))
    def time_passes(self, seconds: int) -> None:
        self.world.state = self.world.state.but(clock=self.world.now() + timedelta(seconds=seconds))

    @precondition(lambda self: self.world.session() is not None)
    @rule(really=st.sampled_from([True, False, False, False]))
    def cancel(self, really: bool) -> None:
        if really:
            self.perform(lambda: cancel(self.world.services(), SESSION_ID, by="jo"))

    @rule(name=TOOLS, raises=st.booleans())
    def a_tool_changes_its_mind(self, name: str, raises: bool) -> None:
        self.outcomes[name] = ValueError("no") if raises else "ok"

    @invariant()
    def holds(self) -> None:
        if hasattr(self, "world"):
            assert violations(self.world.evidence(quiescent=False)) == []

    def teardown(self) -> None:
        try:
            if hasattr(self, "world"):
                self.ends_well()
        finally:
            self.stack.close()

    def ends_well(self) -> None:
        self.world.fuse = None
        for _ in range(12):
            calm = rest(self.world, self.wakes)
            assert violations(self.world.evidence(quiescent=True)) == []
            assert calm
            if not answer(self.world, self.person):
                break
        assert unended(self.world) == []


class LifeOnTable(Life):
    """The same over a table."""

    world_of = OnTable
    lives = 0
    steps = 0


def _turn(names: list[str]) -> Turn:
    return lambda actor: [(name, {"path": str(index)}) for index, name in enumerate(names)]


def lives(machine: type[Life], count: int, capsys: pytest.CaptureFixture[str]) -> None:
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=count,
            stateful_step_count=30,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            print_blob=True,
        ),
    )
    with capsys.disabled():
        name = "in memory" if machine.world_of is Mortal else "on a table"
        sys.stdout.write(
            f"\n  tier 2  {name:24} schedules {machine.lives:>16,}  steps  {machine.steps:>9,}  violations: 0"
        )


def test_no_life_breaks_an_invariant(capsys: pytest.CaptureFixture[str]) -> None:
    lives(Life, 2000 if THOROUGH else 150, capsys)


@pytest.mark.skipif(not THOROUGH, reason="make faults runs it")
def test_no_life_on_a_table_breaks_an_invariant(capsys: pytest.CaptureFixture[str]) -> None:
    lives(LifeOnTable, 40, capsys)


def test_a_session_on_a_table_pauses_after_a_call_that_ran_beside_one_that_waits() -> None:
    turns = [_turn(["send", "delete"])]
    with locked_moto():
        stored = Stored.of(Stored({}, {}).opened())
        world = OnTable(State(stored=stored, clock=START, live={}), Life())
        with running(world):
            start(turns)(world)  # type: ignore[arg-type]

        session = world.session()
    assert session is not None
    assert (session.head.status, session.head.lease) == (SessionStatus.PAUSED, None)
