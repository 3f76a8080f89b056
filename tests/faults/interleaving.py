"""One handler stopped right before or after one of its calls to DynamoDB, another run to its end meanwhile.

A schedule is `state:A@where>B@where>C+D`: in a state, A runs; where it is stopped, B runs, where that is
stopped, C and then D, each of them to its end; then B goes on, and then A.
`where` is `3b` or `3a` (before or after the third call to DynamoDB), `t1` or `t2` (inside the tool, before or
after its effect). With `!` in place of `@` the process dies there. A mover that begins with `late-` comes when
all leases and deadlines of before are over; `expiry-`, when the time to decide is. With `~` the clock is back
where it was once it has ended: it was skewed.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from pausepoint.bootstrap import application
from tests.faults.deployed import Action, Deployed, Died, Habits, Outcome
from tests.faults.workbench import diary, moments

KEY: Final = "the-same-key-each-time"
_LATE: Final = {"late-": timedelta(minutes=5), "expiry-": timedelta(hours=25), "": timedelta(0)}
_MOVER: Final = re.compile(r"(~?)(late-|expiry-|)([a-z_-]+)(?:([@!])(\d+[ab]|t[12]))?")


@dataclass(frozen=True)
class Mover:
    """Somebody who does something, and where he is stopped for the next."""

    skewed: bool
    late: str
    name: str
    stop: str = ""
    dies: bool = False

    @classmethod
    def read(cls, text: str) -> Mover:
        match = _MOVER.fullmatch(text)
        assert match is not None, text
        return cls(bool(match[1]), match[2], match[3], match[5] or "", match[4] == "!")

    def __str__(self) -> str:
        return (
            "~" * self.skewed + self.late + self.name + (("!" if self.dies else "@") + self.stop if self.stop else "")
        )


@dataclass(frozen=True)
class Schedule:
    """What is to happen: the movers in a state, level by level."""

    state: str
    levels: tuple[tuple[Mover, ...], ...]

    @classmethod
    def read(cls, text: str) -> Schedule:
        state, _, levels = text.partition(":")
        return cls(state, tuple(tuple(map(Mover.read, level.split("+"))) for level in levels.split(">")))

    def __str__(self) -> str:
        return f"{self.state}:{'>'.join('+'.join(map(str, level)) for level in self.levels)}"


@dataclass
class _Frame:
    calls: int = 0
    stop: str = ""
    then: Callable[[], object] | None = None


STATES: Final[Mapping[str, tuple[str, ...]]] = {
    "new": (),
    "pending": ("start",),
    "approved": ("start", "approve"),
    "rejected": ("start", "reject"),
    "overdue": ("start", "expiry-nobody"),
    "cut": ("start", "approve", "wake!t2"),
    "doubted": ("start", "approve", "wake!t1", "late-sweep"),
    "asked": ("start", "approve", "wake!t1", "late-sweep", "wake"),
    "again": ("start", "approve", "wake!t1", "late-sweep", "wake", "run_again"),
}
"""By name: who moved before."""


class Stage:
    """Runs schedules on a world on moto."""

    def __init__(self, world: Deployed, client: Any) -> None:
        self.world = world
        self._client = client
        self._frames: list[_Frame] = []
        self._prepared: dict[tuple[str, str], tuple[dict[str, Any], list[Any], list[dict[str, Any]]]] = {}
        self.raising = False

    @contextmanager
    def hooked(self) -> Iterator[None]:
        """Listen to the functions' own client."""
        events = application().services.store._client.meta.events  # type: ignore[attr-defined]
        events.register_first("before-call.dynamodb", self._before, "before")
        events.register_last("after-call.dynamodb", self._after, "after")
        moments.reached = self._in_tool
        yield
        moments.reached = lambda _: None
        events.unregister("before-call.dynamodb", unique_id="before")
        events.unregister("after-call.dynamodb", unique_id="after")

    def run(self, schedule: Schedule, plan: str, habits: Habits, *, raising: bool = False) -> tuple[list[str], bool]:
        """Run one schedule and let the world settle; return what does not hold, and whether all were stopped."""
        self._bring(schedule.state, plan)
        world = self.world
        world.habits, self.raising = habits, raising
        # Whoever is stopped until his lease is over is as good as dead, as far as the model's budget goes (I10).
        world.crashes += sum(bool(mover.late) for level in schedule.levels[1:] for mover in level)
        reached = self._move(schedule.levels, plan)
        self.raising = False
        found = world.verdicts()
        if not found:
            world.settle()
            found = world.verdicts(quiescent=True, every_write=True, skew=timedelta(days=2))
        return found, reached

    def calls_of(self, state: str, mover: str, plan: str) -> int:
        """Return how many calls to DynamoDB somebody makes who is not disturbed."""
        self._bring(state, plan)
        return self._do(Mover.read(mover), plan, None)[0]

    # --- Moving -----------------------------------------------------------------------------------------------------

    def _move(self, levels: Sequence[Sequence[Mover]], plan: str) -> bool:
        """Let a level's movers go one after the other; return whether the levels below had their turn."""
        rest = levels[1:]
        reached = not rest

        def then() -> None:
            nonlocal reached
            reached = self._move(rest, plan)

        for mover in levels[0]:
            self._do(mover, plan, _die if mover.dies else then if mover.stop else None)
        return reached

    def _do(self, mover: Mover, plan: str, then: Callable[[], object] | None) -> tuple[int, Outcome | None]:
        clock = self.world.clock
        before = clock.moment
        clock.moment += _LATE[mover.late]
        frame = _Frame(stop=mover.stop, then=then)
        self._frames.append(frame)
        action = self._action(mover, plan)
        outcome = self.world.perform(action) if action is not None else None
        self._frames.pop()
        if mover.skewed:
            clock.moment = before + timedelta(seconds=1)
        return frame.calls, outcome

    def _action(self, mover: Mover, plan: str) -> Action | None:
        world, name = self.world, mover.name
        if name == "start":
            return ("start", plan, KEY)
        if name == "sweep":
            return ("sweep",)
        session = world.session()
        if session is None or name == "nobody":
            return None
        session_id = session.head.session_id
        if name in ("wake", "cancel"):
            return (name, session_id)
        if name == "say":
            return ("say", session_id, plan)
        world.look()
        words = {"approve": "approved", "reject": "rejected"}
        signed = name.startswith("signed-")
        word = words.get(name.removeprefix("signed-"), name.removeprefix("signed-"))
        for (_, call_id), links in reversed(world.links.items()):
            if signed:
                return ("decide", session_id, call_id, word)
            return ("post", session_id, call_id, links[-1].token, word)
        return None

    def _stopped(self, where: str) -> None:
        if not self._frames:
            return
        frame = self._frames[-1]
        if frame.stop == where and frame.then is not None:
            then, frame.then = frame.then, None
            then()

    def _before(self, **_: Any) -> None:
        if self._frames:
            self._frames[-1].calls += 1
            self._stopped(f"{self._frames[-1].calls}b")

    def _after(self, **_: Any) -> None:
        self.world.snapshot()
        if self._frames:
            self._stopped(f"{self._frames[-1].calls}a")

    def _in_tool(self, moment: str) -> None:
        if moment == "before effect":
            self._stopped("t1")
        elif moment == "after effect":
            self._stopped("t2")
            if self.raising:
                raise RuntimeError("the tool failed")

    # --- States ------------------------------------------------------------------------------------------------------

    def _bring(self, state: str, plan: str) -> None:
        """Make the world as it is in a state; the way there is gone once."""
        world, kept = (
            self.world,
            ("links", "sent", "wakeups", "unheard", "receives", "told", "pages", "history", "statuses", "trail"),
        )
        if (state, plan) not in self._prepared:
            world.renew()
            world.habits = Habits()
            for step in STATES[state]:
                self._step(Mover.read(step), plan)
            assert not world.faults, world.faults
            values = {name: copy.deepcopy(getattr(world, name)) for name in (*kept, "crashes", "messages")}
            values["moment"] = world.clock.moment
            self._prepared[state, plan] = (values, self.world.raw_items(), diary.read())
        values, items, lines = self._prepared[state, plan]
        world.renew(items)
        for name in (*kept, "crashes", "messages"):
            setattr(world, name, copy.deepcopy(values[name]))
        world.clock.moment = values["moment"]
        diary.restore(lines)

    def _step(self, mover: Mover, plan: str) -> None:
        self._do(mover, plan, _die if mover.dies else None)
        if mover.name == "wake":
            self.world.wakeups, self.world.unheard = [], []


def _die() -> None:
    raise Died
