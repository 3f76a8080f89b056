"""The product with one protection taken out: each must be found out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final
from unittest.mock import patch

from pausepoint.domain import calls as transitions
from pausepoint.domain import proposals, steps
from pausepoint.domain.calls import CallStatus, Decision, Execution, PendingToolCall
from pausepoint.domain.events import AssistantTurn
from pausepoint.errors import AlreadyDecided, LostRace, Unavailable
from pausepoint.runtime import decisions, execution, memory, runner, sweeping
from pausepoint.runtime.execution import Executor
from pausepoint.runtime.memory import InMemoryStore
from pausepoint.runtime.runner import Runner
from pausepoint.runtime.sweeping import Sweeper
from tests.faults import actors

Patch = Callable[[], AbstractContextManager[Any]]


@dataclass(frozen=True)
class Mutant:
    """What is taken out, where it shows, and how to look for it."""

    name: str
    patch: Patch
    scenarios: tuple[str, ...]
    options: dict[str, Any] = field(default_factory=dict)


def _any_decision(call: PendingToolCall, decision: Decision, **_: Any) -> PendingToolCall:
    return replace(call, status=CallStatus(decision.verdict), decision=decision)


def _unchecked_claim(call: PendingToolCall, execution: Execution) -> PendingToolCall:
    return replace(call, status=CallStatus.EXECUTING, execution=execution, attempts=call.attempts + 1)


def _claim_written_only(store: InMemoryStore, session_id: str, call_id: str, execution: Execution) -> PendingToolCall:
    return _unchecked_claim(store.call(session_id, call_id), execution)


def _late_decision(call: PendingToolCall, decision: Decision, **_: Any) -> PendingToolCall:
    if call.status is not CallStatus.PENDING:
        raise AlreadyDecided(call)
    return replace(call, status=CallStatus(decision.verdict), decision=decision)


@contextmanager
def _decided_at_any_time() -> Iterator[None]:
    with patch.object(transitions, "decided", _late_decision), patch.object(decisions, "decided", _late_decision):
        yield


@contextmanager
def _rerun_after_the_deadline() -> Iterator[None]:
    claimed, readiness = transitions.claimed, steps.readiness

    def ready(call: Any, record: Any, now: datetime) -> Any:
        safe = record and replace(record, retry_safe=True)
        return readiness(call, safe, now)

    def claims(call: PendingToolCall, execution: Execution) -> PendingToolCall:
        safe = claimed(replace(call, retry_safe=True), execution)
        return replace(safe, retry_safe=call.retry_safe)

    def doubted(call: PendingToolCall, *, now: datetime) -> PendingToolCall:
        raise LostRace("it will run again")

    with (
        patch.object(runner, "readiness", ready),
        patch.object(steps, "readiness", ready),
        patch.object(transitions, "claimed", claims),
        patch.object(transitions, "doubted", doubted),
    ):
        yield


@contextmanager
def _no_fence() -> Iterator[None]:
    original = memory._check

    def check(session: Any, commit: Any) -> None:
        try:
            original(session, commit)
        except LostRace as lost:
            if str(lost) != "the call is not held by this execution":  # the last that is looked at
                raise

    with patch.object(memory, "_check", check):
        yield


@contextmanager
def _entries_overwrite() -> Iterator[None]:
    original = memory._check

    def check(session: Any, commit: Any) -> None:
        original(session, replace(commit, entry=None, log_at=None))

    with patch.object(memory, "_check", check):
        yield


@contextmanager
def _lease_for_everybody() -> Iterator[None]:
    lease, check = InMemoryStore.lease, memory._check

    def leased(store: InMemoryStore, session_id: str, wanted: Any, **options: Any) -> Any:
        session = store.load(session_id)
        if session.head.lease is not None:
            store._sessions[session_id] = replace(session, head=replace(session.head, lease=None))
        return lease(store, session_id, wanted, **options)

    def checked(session: Any, commit: Any) -> None:
        try:
            check(session, commit)
        except LostRace as lost:
            if str(lost) != "the lease is not mine":
                raise

    with patch.object(InMemoryStore, "lease", leased), patch.object(memory, "_check", checked):
        yield


@contextmanager
def _entered_before_the_claim() -> Iterator[None]:
    original = Executor.enter_guarded

    def enter(executor: Executor, call: Any, record: PendingToolCall) -> Any:
        tool = executor._tools[record.name]
        context = executor._tool_context(record.session_id, record.call_id, approver=None)
        with suppress(Exception):
            tool.run(record.approved_arguments, context)
        with patch.object(executor, "_run", lambda *_: ("success", "done")):
            return original(executor, call, record)

    with patch.object(Executor, "enter_guarded", enter):
        yield


@contextmanager
def _runs_on_an_unknown_claim() -> Iterator[None]:
    enter = Executor.enter_guarded

    def entered(executor: Executor, call: Any, record: PendingToolCall) -> Any:
        store = executor._services.store
        claim = store.claim

        def hopeful(session_id: str, call_id: str, execution: Execution) -> PendingToolCall:
            try:
                return claim(session_id, call_id, execution)
            except Unavailable:
                return _unchecked_claim(record, execution)

        with patch.object(store, "claim", hopeful, create=True):
            return enter(executor, call, record)

    with patch.object(Executor, "enter_guarded", entered):
        yield


@contextmanager
def _digest_taken_on_trust() -> Iterator[None]:
    enter = Executor.enter_guarded

    def trusting(executor: Executor, call: Any, record: PendingToolCall) -> Any:
        with patch.object(execution, "call_digest", lambda name, arguments: record.approved_digest):
            return enter(executor, call, record)

    with patch.object(Executor, "enter_guarded", trusting):
        yield


@contextmanager
def _turn_rides_with_the_next_write() -> Iterator[None]:
    commit = Runner._commit

    def lazy(each: Runner, **options: Any) -> None:
        if not options and any(isinstance(event, AssistantTurn) for event in each._unsaved):
            return
        commit(each, **options)

    def store_turn(each: Runner, reply: Any) -> None:
        with patch.object(each, "_commit", lambda **options: lazy(each, **_nothing_new(options))):
            kept(each, reply)

    kept = Runner._store_turn
    with patch.object(Runner, "_store_turn", store_turn):
        yield


def _nothing_new(options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value != ()}


@contextmanager
def _marked_before_it_is_sent() -> Iterator[None]:
    notify = Runner._notify

    def hasty(each: Runner, call_id: str, token: str) -> None:
        each._services.store.mark_notified(each._session.calls[call_id])
        notify(each, call_id, token)

    with patch.object(Runner, "_notify", hasty):
        yield


@contextmanager
def _doubts_whoever_runs() -> Iterator[None]:
    def doubted(call: PendingToolCall, *, now: datetime) -> PendingToolCall:
        if call.status is not CallStatus.EXECUTING:
            raise LostRace("it does not run")
        return replace(call, status=CallStatus.IN_DOUBT, notify="none")

    look = Sweeper._call

    def call(sweeper: Sweeper, row: Any) -> str:
        store = sweeper._services.store
        found = store.call(row.session_id, row.call_id)
        if found.status is CallStatus.EXECUTING:
            store.doubt(found, now=sweeper._services.clock.now())
            return "Doubted"
        return look(sweeper, row)

    def due(call: PendingToolCall) -> datetime | None:
        if call.status is CallStatus.EXECUTING and call.execution is not None:
            return call.execution.started_at
        return original(call)

    original = transitions.due_at
    with (
        patch.object(transitions, "doubted", doubted),
        patch.object(transitions, "due_at", due),
        patch.object(Sweeper, "_call", call),
        patch.object(sweeping, "GRACE", timedelta(seconds=-1)),
    ):
        yield


@contextmanager
def _cancel_leaves_calls() -> Iterator[None]:
    close = InMemoryStore.close

    def closes(store: InMemoryStore, session: Any, entry: Any, calls: Any, **options: Any) -> None:
        close(store, session, entry, (), **options)

    with patch.object(InMemoryStore, "close", closes):
        yield


@contextmanager
def _recorded_blindly() -> Iterator[None]:
    with (
        patch("pausepoint.domain.session.Session.told_of", lambda session, call_id: False),
        _no_fence(),
    ):
        yield


@contextmanager
def _asked_again_without_asking() -> Iterator[None]:
    reissue = proposals.reissue_of

    def approved(record: PendingToolCall, *args: Any, **options: Any) -> PendingToolCall:
        again = reissue(record, *args, **options)
        return replace(again, status=CallStatus.APPROVED, decision=record.decision, notify="none")

    with patch.object(runner, "reissue_of", approved):
        yield


@contextmanager
def _answers_overwrite() -> Iterator[None]:
    def resolved(call: PendingToolCall, resolution: Any, **_: Any) -> PendingToolCall:
        status = CallStatus.SUCCEEDED if resolution.answer == "happened" else CallStatus.FAILED
        return replace(call, status=status, resolution=resolution, told=False)

    with patch.object(transitions, "resolved", resolved):
        yield


@contextmanager
def _questions_are_entered() -> Iterator[None]:
    readiness = steps.readiness

    def ready(call: Any, record: Any, now: datetime) -> Any:
        if record is not None and record.status is CallStatus.ANSWERED:
            return steps.Readiness.ENTER
        return readiness(call, record, now)

    with (
        patch.object(runner, "readiness", ready),
        patch.object(steps, "readiness", ready),
        patch.object(transitions, "claimed", _unchecked_claim),
    ):
        yield


def _attribute(owner: object, name: str, value: object) -> Patch:
    return lambda: patch.object(owner, name, value)


def _same() -> AbstractContextManager[Any]:
    return nullcontext()


MUTANTS: Final[tuple[Mutant, ...]] = (
    Mutant("no claim", _attribute(InMemoryStore, "claim", _claim_written_only), ("cut off",)),
    Mutant("claim without a condition", _attribute(transitions, "claimed", _unchecked_claim), ("cut off", "two calls")),
    Mutant("unconditional decide", _attribute(transitions, "decided", _any_decision), ("approve or reject",)),
    Mutant("decide without expiry", _decided_at_any_time, ("too late",)),
    Mutant("re-run after the deadline", _rerun_after_the_deadline, ("cut off",)),
    Mutant("lost answer read as conflict", _same, ("approve twice",), {"naive": True}),
    Mutant("no fence on record", _no_fence, ("cut off, retry-safe", "in doubt", "in doubt, late failure", "cut off")),
    Mutant("log entries overwrite", _entries_overwrite, ("read first", "cancel")),
    Mutant("no lease", _lease_for_everybody, ("approve twice",)),
    Mutant("no sweeper", _same, ("approve twice",), {"sweeping": False}),
    Mutant("no look again", _attribute(Runner, "_look_again", lambda *_: None), ("two calls", "two calls in order")),
    Mutant("tool before claim", _entered_before_the_claim, ("approve twice", "cut off")),
    Mutant("tool on an unknown claim", _runs_on_an_unknown_claim, ("cut off",), {"kinds": frozenset({"down", "gone"})}),
    Mutant("digest not recomputed", _digest_taken_on_trust, ("altered",)),
    Mutant("turn not stored before it runs", _turn_rides_with_the_next_write, ("read first",)),
    Mutant("marked before it is sent", _marked_before_it_is_sent, ("decide while it starts", "start")),
    Mutant("doubt before the deadline", _doubts_whoever_runs, ("approve twice",)),
    Mutant("cancel leaves calls open", _cancel_leaves_calls, ("cancel",)),
    Mutant("recorded blindly", _recorded_blindly, ("approve twice", "in doubt")),
    Mutant("run again without approval", _asked_again_without_asking, ("in doubt, late failure", "in doubt")),
    Mutant("answers overwrite", _answers_overwrite, ("in doubt",)),
    Mutant("answers to a question overwrite", _attribute(transitions, "decided", _any_decision), ("question",)),
    Mutant("answer after the end", _decided_at_any_time, ("question, too late",)),
    Mutant("questions are entered", _questions_are_entered, ("question",)),
    Mutant("another answer is told", _attribute(execution, "refusal_text", lambda _: "Yes."), ("question",)),
    Mutant("no wake-up", _attribute(actors, "wake", lambda *_: None), ("approve or reject",)),
    Mutant("overdue calls stay", _attribute(transitions, "expired", lambda call, **_: call), ("too late",)),
    Mutant("re-run of an ungated effect", _rerun_after_the_deadline, ("ungated",)),
)
