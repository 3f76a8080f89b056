"""What a session does next, as a pure function of what is stored.

Recovery is not a special case: whoever loads the log and asks `next_step` carries on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum, auto
from itertools import islice, takewhile
from typing import assert_never

from pausepoint.domain.calls import CallStatus, PendingToolCall
from pausepoint.domain.events import AssistantTurn, SessionFailed, ToolCall
from pausepoint.domain.session import Session


@dataclass(frozen=True)
class CallModel:
    """Every call of the last turn has its result, or somebody said something: the model is due."""


@dataclass(frozen=True)
class RunCalls:
    """These calls can be brought to a result now, in this order: run, or answered without running."""

    calls: tuple[ToolCall, ...]


@dataclass(frozen=True)
class AwaitDecisions:
    """Nothing can move until somebody decides these calls, or their running execution reports."""

    calls: tuple[ToolCall, ...]


@dataclass(frozen=True)
class Finish:
    """The model has nothing more to do, or the session has ended."""


Step = CallModel | RunCalls | AwaitDecisions | Finish


class Readiness(Enum):
    """What can be done about one call."""

    ENTER = auto()
    ANSWER = auto()
    RECONCILE = auto()
    REISSUE = auto()
    WAIT = auto()


def readiness(call: ToolCall, record: PendingToolCall | None, now: datetime) -> Readiness:
    """Say whether a call may be entered, is to be answered, asked about or reissued, or has to wait."""
    if not call.guarded:
        return Readiness.ANSWER if call.refusal is not None else Readiness.ENTER
    if record is None:  # its record is gone (the table forgot it): it can never be approved
        return Readiness.ANSWER
    match record.status:
        case CallStatus.APPROVED:
            return Readiness.ENTER
        case CallStatus.PENDING:
            return Readiness.WAIT
        case CallStatus.EXECUTING:
            cut_off = record.execution is not None and record.execution.deadline < now
            return Readiness.ENTER if cut_off and record.retry_safe else Readiness.WAIT
        case CallStatus.IN_DOUBT:
            return Readiness.WAIT if record.reconciled else Readiness.RECONCILE
        case CallStatus.FAILED if record.resolution is not None and record.resolution.answer == "run_again":
            return Readiness.REISSUE
        case (
            CallStatus.REJECTED
            | CallStatus.ANSWERED
            | CallStatus.EXPIRED
            | CallStatus.CANCELLED
            | CallStatus.STALE
            | CallStatus.SUCCEEDED
            | CallStatus.FAILED
        ):
            return Readiness.ANSWER
        case _:
            assert_never(record.status)


def next_step(session: Session, now: datetime) -> Step:
    """Return what the session does next; `now` only tells which executions were cut off."""
    # Not only as the last event: a call that was executing meanwhile still records how it ended.
    if session.tally.cancelled:
        return Finish()
    if session.open_calls:
        return _next_of_calls(session, now)
    last = session.events[-1] if session.events else None
    if isinstance(last, SessionFailed):
        return Finish()
    if isinstance(last, AssistantTurn) and not last.calls:
        return Finish()
    return CallModel()


def together(session: Session, calls: Sequence[ToolCall], most: int) -> tuple[ToolCall, ...]:
    """Return the first of the calls that are ready, and those right behind it that may run at the same time.

    Only what nobody is asked about, and what may run again after a crash, runs beside anything else.
    """
    first, *others = calls
    if session.spec.ordered or first.guarded or first.refusal is not None:
        return (first,)
    free = takewhile(lambda call: not call.guarded and call.refusal is None, others)
    return (first, *islice(free, most - 1))


def _next_of_calls(session: Session, now: datetime) -> RunCalls | AwaitDecisions:
    ready: list[ToolCall] = []
    waiting: list[ToolCall] = []
    for call in session.open_calls:
        if readiness(call, session.calls.get(call.call_id), now) is Readiness.WAIT:
            waiting.append(call)
            if session.spec.ordered:
                break
        else:
            ready.append(call)
    return RunCalls(tuple(ready)) if ready else AwaitDecisions(tuple(waiting))
