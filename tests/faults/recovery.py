"""What happens when faults stop: wake-ups are delivered, the sweeper comes by, people answer; then all must rest."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final, Protocol, cast

from pausepoint.domain.calls import CallStatus, PendingToolCall
from pausepoint.domain.session import Session, SessionStatus
from pausepoint.errors import PausepointError
from pausepoint.runtime.context import Services
from pausepoint.runtime.memory import InMemoryStore
from pausepoint.runtime.sweeping import GRACE, Sweeper
from tests.faults.actors import INVOCATION, SESSION_ID, post
from tests.faults.evidence import Evidence, Sent, Told
from tests.faults.invariants import violations
from tests.faults.scripts import SILENT, Op, Program, Script, in_line, running
from tests.faults.soundness import waits_its_turn
from tests.faults.world import State, elsewhere

HORIZON: Final = timedelta(hours=20)
"""Recovery looks so far ahead: not so far that what waits for a person expires."""
ROUNDS: Final = 60
DELIVERIES: Final = 40


class Setting(Protocol):
    """What recovery has to know of a scenario."""

    @property
    def outcomes(self) -> Mapping[str, Any]: ...
    @property
    def person(self) -> Person: ...


@dataclass(frozen=True)
class Person:
    """Whoever answers in the end.

    Attributes:
        doubt: what is said of a call in doubt; None: the truth.
        verdict: on what still waits for a decision.
        answer: to a question that still waits for one.
    """

    doubt: str | None = None
    verdict: str = "approved"
    answer: str = "answered:in the end"


class WatchedStore(InMemoryStore):
    """Remembers every state that a call, and a session, was ever in."""

    def __init__(self) -> None:
        super().__init__()
        self.history: list[PendingToolCall] = []
        self.statuses: list[tuple[str, str]] = []

    def _put(self, session: Session) -> None:
        known = self._sessions.get(session.head.session_id)
        for name, call in session.calls.items():
            if known is None or known.calls.get(name) is not call:
                self.history.append(call)
        self.statuses.append((session.head.session_id, session.head.status.value))
        super()._put(session)


class Mended:
    """The world after the last fault."""

    def __init__(self, state: State, setting: Setting) -> None:
        self.actor = "mended"
        self.state = state
        self._setting = setting
        self._made = 0
        self.store = WatchedStore()
        self.store._sessions = dict(state.stored.sessions)
        self.store._postponed = dict(state.stored.postponed)
        session = self.store._sessions.get(SESSION_ID)
        self.store.history = list(session.calls.values()) if session else []

    def now(self) -> datetime:
        """Honour `Clock`."""
        return self.state.clock

    def name(self) -> str:
        """Return a new id."""
        self._made += 1
        return f"{self.actor}.{self._made}"

    def call(self, port: str, method: str, *args: Any, **kwargs: Any) -> Any:
        """Make a call of anything but the store."""
        self.state, answer = elsewhere(self.state, self.actor, Op(port, method, args, kwargs), self._setting.outcomes)
        if isinstance(answer, BaseException):
            raise answer.with_traceback(None)
        return answer

    def services(self) -> Services:
        """Return the world as the product sees it."""
        return Services(
            store=self.store,
            notifier=_Sender(self),
            queue=_Waker(self),
            clock=self,
            new_id=self.name,
            new_token=self.name,
            logger=SILENT,
            call_within=in_line(self),
        )

    def session(self) -> Session | None:
        """Return the session as it is stored, once there is one."""
        return self.store._sessions.get(SESSION_ID)

    def evidence(self, *, quiescent: bool) -> Evidence:
        """Return everything there is to check."""
        state, session = self.state, self.session()
        return Evidence(
            sessions=[session] if session else [],
            entries=[entry for _, entry in sorted(state.entries, key=lambda entered: entered[0])],
            effects=state.effects,
            pages=_pages(state),
            model_calls=state.asked,
            crashes=(state.fault in ("crash", "gone", "down")) + state.overtaken,
            notices=[Sent(SESSION_ID, call_id, subject) for call_id, subject, _ in state.notices],
            told=[Told(SESSION_ID, note[1], note[2]) for note in state.notes if note[0] == "told"],
            history=self.store.history,
            statuses=self.store.statuses,
            lost_answers_only=state.fault in (None, "lost") and state.overtaken == 0,
            quiescent=quiescent,
            now=state.clock,
        )


@dataclass(frozen=True)
class _Sender:
    world: Mended

    def send(self, notice: Any) -> None:
        self.world.call("notifier", "send", notice)


@dataclass(frozen=True)
class _Waker:
    world: Mended

    def wake(self, session_id: str) -> None:
        self.world.call("queue", "wake", session_id)


def recovered(state: State, wakes: Program, setting: Setting, *, sweeping: bool = True) -> tuple[str, ...]:
    """Let the world come to rest after a schedule, and return what does not hold."""
    broken = list(state.broken)
    world = Mended(state, setting)
    with running(world):
        if state.fault in (None, "lost") and state.overtaken == 0 and state.jumps == 0:
            broken += _rested_unswept(state, wakes, setting)
        lost = replace(state, queue=0) if sweeping else state  # wake-ups may be lost: the sweeper sees to it
        world.state = lost
        for _ in range(6):
            calm = rest(world, wakes) if sweeping else _deliver(world, wakes)
            broken += violations(world.evidence(quiescent=True))
            if not calm:
                broken.append("I7: it never comes to rest")
            if broken or not answer(world, setting.person):
                break
        broken += [] if broken else unended(world)
    return tuple(dict.fromkeys(broken))


def unended(world: Mended) -> list[str]:
    """Say so if the session is not at its end after everybody has answered."""
    session = world.session()
    if session is not None and session.head.status in (SessionStatus.RUNNING, SessionStatus.PAUSED):
        return [f"I7: the session ends {session.head.status}"]
    return []


def _rested_unswept(state: State, wakes: Program, setting: Setting) -> list[str]:
    """Without a crash, wake-ups alone bring everything on its way: the sweeper is not needed for it."""
    world = Mended(state, setting)
    with running(world):
        if not _deliver(world, wakes):
            return ["I7: wake-ups never end"]
        return [f"{what} (unswept)" for what in violations(world.evidence(quiescent=True))]


def _deliver(world: Mended, wakes: Program) -> bool:
    for _ in range(DELIVERIES):
        if world.state.queue == 0:
            return True
        wakes(cast("Script", world))
        world.state = replace(world.state, holding=frozenset())
    return False


def rest(world: Mended, wakes: Program) -> bool:
    """Sweep and deliver, and let the time pass until somebody has to look again, until nobody has."""
    for _ in range(ROUNDS):
        services = world.services()
        if not _deliver(world, wakes):
            return False
        Sweeper(services).sweep(until=world.now() + INVOCATION)
        if not _deliver(world, wakes):
            return False
        ahead = world.now() + HORIZON
        rows = [row for calls in (True, False) for row in services.store.due(calls=calls, before=ahead, limit=100)]
        rows = [row for row in rows if not _queues(services.store.load(row.session_id), row.call_id)]
        if not rows:
            return True
        clock = max(world.now(), *(row.due_at for row in rows[:1])) + GRACE + timedelta(seconds=1)
        world.state = replace(world.state, clock=clock)
    return False


def answer(world: Mended, person: Person) -> bool:
    """Have a person answer whatever waits for one; say whether anything did."""
    services = world.services()
    session = world.session()
    waiting = session.waiting_calls if session and session.head.status is SessionStatus.PAUSED else ()
    for call in waiting:
        happened = world.state.effects.get(f"{SESSION_ID}:{call.call_id}", 0) > 0
        truth = person.doubt or ("happened" if happened else "did_not_happen")
        asked = person.verdict if call.question is None else person.answer
        word = truth if call.status is CallStatus.IN_DOUBT else asked
        with suppress(PausepointError):
            post(services, call, word, token=None)
    return bool(waiting)


def _queues(session: Session, call_id: str | None) -> bool:
    """Whether a call waits behind another that waits for a person: the sweeper looks after it in vain till then."""
    return call_id is not None and waits_its_turn(session, session.calls[call_id])


def _pages(state: State) -> dict[tuple[str, str], set[str]]:
    pages: dict[tuple[str, str], set[str]] = {}
    for note in state.notes:
        if note[0] == "page":
            pages.setdefault((SESSION_ID, note[1]), set()).add(note[2])
    return pages
