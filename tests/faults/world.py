"""The world that actors act on, as values: a state, what one call makes of it, and what a fault makes of a call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final

from pausepoint.domain.calls import PendingToolCall
from pausepoint.domain.documents import Document
from pausepoint.domain.session import Session
from pausepoint.errors import LostRace, PausepointError, Unavailable
from pausepoint.runtime.memory import InMemoryStore
from pausepoint.runtime.notices import DOUBT_SUBJECT
from pausepoint.runtime.ports import Notice
from tests.faults.actors import SESSION_ID, TOOLS
from tests.faults.evidence import Entry, Evidence
from tests.faults.invariants import i4_edges, i5_one_decision
from tests.faults.scripts import Answer, Op

READS: Final = frozenset({"load", "head", "call", "due"})
_LOG: Final = "log"

_known: dict[int, tuple[Any, int]] = {}


def fingerprint(value: Any) -> int:
    """Return a number that is the same for equal values, also for those that Python cannot hash."""
    if isinstance(value, BaseException):
        return hash((type(value).__name__, str(value), fingerprint(getattr(value, "call", None))))
    if not isinstance(value, Document | Session):
        return hash(tuple(value) if isinstance(value, list) else value)
    kept = _known.get(id(value))
    if kept is None:
        kept = _known[id(value)] = (value, _fingerprint(value))  # kept alive, or its id would be taken again
    return kept[1]


def _fingerprint(value: Document | Session) -> int:
    if isinstance(value, Session):
        events = tuple(fingerprint(event) for event in value.events)
        calls = tuple(sorted((name, fingerprint(call)) for name, call in value.calls.items()))
        return hash((fingerprint(value.head), events, calls))
    return hash((type(value).__name__, repr(value)))


def forget() -> None:
    """Let go of everything that fingerprints were kept of."""
    _known.clear()


@dataclass(frozen=True)
class Stored:
    """The store's content."""

    sessions: Mapping[str, Session]
    postponed: Mapping[tuple[str, str], datetime]
    fingerprint: int = 0

    def opened(self) -> InMemoryStore:
        """Return a store with this content."""
        store = InMemoryStore()
        store._sessions = dict(self.sessions)
        store._postponed = dict(self.postponed)
        return store

    @classmethod
    def of(cls, store: InMemoryStore) -> Stored:
        """Return a store's content."""
        sessions = tuple((name, fingerprint(session)) for name, session in store._sessions.items())
        return cls(store._sessions, store._postponed, hash((sessions, frozenset(store._postponed.items()))))


@dataclass(frozen=True)
class Live:
    """An actor on its way: the answers so far (and a number for them), and what it does next.

    Attributes:
        landed: what the write gave back whose answer was lost, the rows it left, by place,
            and the actor as it was.
    """

    answers: tuple[Answer, ...]
    mark: int
    op: Op
    landed: tuple[Any, Mapping[str, int], Live] | None = None


@dataclass(frozen=True)
class State:
    """Everything there is at a moment of a schedule."""

    stored: Stored
    clock: datetime
    live: Mapping[str, Live | None]
    queue: int = 0
    notices: tuple[tuple[str, str, str], ...] = ()  # call, subject, token
    entries: frozenset[tuple[int, Entry]] = frozenset()
    effects: Mapping[str, int] = field(default_factory=dict)
    asked: int = 0
    holding: frozenset[str] = frozenset()
    notes: frozenset[tuple[str, ...]] = frozenset()
    fault: str | None = None
    jumps: int = 0
    overtaken: int = 0
    broken: tuple[str, ...] = ()

    def but(self, **changes: Any) -> State:
        """Return the state with changes: what `dataclasses.replace` does, five times as fast."""
        state = object.__new__(State)
        state.__dict__.update(self.__dict__, **changes)
        return state

    def key(self) -> int:
        """Return a number that is the same for states with the same future."""
        live = frozenset([(name, actor.mark if actor else 0) for name, actor in self.live.items()])
        return hash((live, self.rest_key()))

    def rest_key(self) -> int:
        """Return the same without the actors."""
        return hash(
            (
                self.stored.fingerprint,
                self.clock,
                self.queue,
                self.notices,
                self.entries,
                frozenset(self.effects.items()),
                self.asked,
                self.holding,
                self.notes,
                self.fault,
                self.jumps,
                self.overtaken,
                self.broken,
            )
        )


def _rows(stored: Stored) -> dict[str, int]:
    """Return the rows a nonce can be on, by place: an entry of the log is never written again."""
    session = stored.sessions.get(SESSION_ID)
    if session is None:
        return {}
    calls = {name: fingerprint(call) for name, call in session.calls.items()}
    return {**calls, "META": fingerprint(session.head), _LOG: len(session.events)}


@dataclass(frozen=True)
class Effect:
    """What a call of the store came to."""

    stored: Stored
    answer: Any
    touched: Mapping[str, int]
    broken: tuple[str, ...]


_applied: dict[tuple[int, int], Effect] = {}


def reset() -> None:
    """Forget what calls came to: after the product's code was patched."""
    _applied.clear()
    forget()


def on_store(stored: Stored, op: Op, mark: int) -> Effect:
    """Make a call of the store. `mark` stands for the call: it follows from what the actor knows."""
    kept = _applied.get((stored.fingerprint, mark))
    if kept is not None:
        return kept
    store = stored.opened()
    try:
        answer = getattr(store, op.method)(*op.args, **op.kwargs)
    except (PausepointError, KeyError) as error:
        answer = error if isinstance(error, PausepointError) else LostRace("there is no such call")
    if op.method in READS or isinstance(answer, PausepointError):
        effect = Effect(stored, answer, {}, ())
    else:
        after = Stored.of(store)
        before_rows, after_rows = _rows(stored), _rows(after)
        touched = {place: now for place, now in after_rows.items() if before_rows.get(place) != now}
        effect = Effect(after, answer, touched, _broken(stored, after))
    _applied[stored.fingerprint, mark] = effect
    return effect


def still_landed(state: State, touched: Mapping[str, int]) -> bool:
    """Whether a row still carries the nonce of the write that left them so."""
    rows = _rows(state.stored)
    return _LOG in touched or any(rows.get(place) == left for place, left in touched.items())


def _broken(before: Stored, after: Stored) -> tuple[str, ...]:
    new: list[PendingToolCall] = []
    moved: list[PendingToolCall] = []
    statuses: list[tuple[str, str]] = []
    for session_id, session in after.sessions.items():
        earlier = before.sessions.get(session_id)
        for name, call in session.calls.items():
            known = earlier.calls.get(name) if earlier else None
            if known is None:
                new.append(call)
            elif known is not call:
                moved += [known, call]
        statuses += [(session_id, each.head.status.value) for each in (earlier, session) if each]
    evidence = Evidence(history=moved, statuses=statuses, every_write=True)
    created = Evidence(history=new, from_beginning=True)
    edges = [f"I4: {what}" for what in (*i4_edges(evidence), *i4_edges(created))]
    return tuple(edges + [f"I5: {what}" for what in i5_one_decision(evidence)])


def elsewhere(state: State, name: str, op: Op, outcome: Mapping[str, Any]) -> tuple[State, Any]:
    """Make a call of anything but the store, and return what it gave back."""
    match op.port, op.method:
        case "notifier", _:
            notice: Notice = op.args[0]
            token = notice.body.partition("?t=")[2].partition("\n")[0]
            return state.but(notices=(*state.notices, (notice.call_id, notice.subject, token))), None
        case "queue", "wake":
            return state.but(queue=state.queue + 1), None
        case "queue", _:
            taken = state.queue > 0
            holding = state.holding | {name} if taken else state.holding
            return state.but(queue=state.queue - taken, holding=holding), taken
        case "model", _:
            return state.but(asked=state.asked + 1), None
        case "tool", "enter":
            return _entered(state, *op.args), None
        case "tool", "leave":
            return state, outcome.get(op.args[0], "ok")
        case "tool", _:
            return state, state.effects.get(op.args[0], 0) > 0
        case "mailbox", _:
            return state, letter(state, *op.args)
        case "intruder", _:
            return _altered(state, op.args[0]), None
        case _:
            raise AssertionError(f"nobody answers {op.port}.{op.method}")


def letter(state: State, call_id: str, doubt: bool) -> str | None:
    """Return the secret in the first message about a call, if there is one."""
    found = [
        token for about, subject, token in state.notices if about == call_id and doubt == (subject == DOUBT_SUBJECT)
    ]
    return found[0] if found else None


def _entered(state: State, name: str, call_id: str, key: str, digest: str) -> State:
    tool = TOOLS[name]
    gated = tool.needs_confirmation('{"path":"a"}')
    entry = Entry(SESSION_ID, call_id, key, digest, tool.retry_safe, gated, state.clock)
    # A tool that may run again honours its key: the world changes once.
    effects = {**state.effects, key: 1 if tool.retry_safe else state.effects.get(key, 0) + 1}
    return state.but(entries=state.entries | {(len(state.entries), entry)}, effects=effects)


def _altered(state: State, call_id: str) -> State:
    store = state.stored.opened()
    session = store.load(SESSION_ID)
    call = replace(session.calls[call_id], arguments='{"path":"everything"}')
    store._put(session.after(None, calls=[call]))
    return state.but(stored=Stored.of(store), overtaken=state.overtaken + 1)


def unavailable() -> Unavailable:
    """Return what a caller sees when a service does not answer after all retries."""
    return Unavailable("no answer")
