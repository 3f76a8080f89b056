"""What the invariants ask of one record, one session and its log."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

from pausepoint.domain.calls import Decision, PendingToolCall
from pausepoint.domain.events import (
    AssistantTurn,
    CallReissued,
    DecisionRecorded,
    ExecutionRecorded,
    SessionCancelled,
    SessionFailed,
    ToolCall,
    ToolResult,
)
from pausepoint.domain.session import Session
from tests.faults.evidence import Entry

EDGES: Final[Mapping[str, frozenset[str]]] = {
    "pending": frozenset({"approved", "rejected", "answered", "expired", "cancelled", "stale"}),
    "approved": frozenset({"executing", "cancelled", "stale"}),
    "executing": frozenset({"succeeded", "failed", "in_doubt"}),
    "in_doubt": frozenset({"succeeded", "failed"}),
}
"""The table of states of the design, written down a second time on purpose: the product is held against it."""

ENTERED: Final = frozenset({"executing", "succeeded", "failed", "in_doubt"})
UNENTERED: Final = frozenset({"pending", "answered", "expired", "cancelled", "stale"})
"""Where a question can stand."""


def leads(before: str, after: str, *, direct: bool) -> bool:
    reached = EDGES.get(before, frozenset())
    return after in reached or (not direct and any(leads(status, after, direct=False) for status in reached))


def unsound(call: PendingToolCall) -> Iterator[str]:
    status, verdict = call.status.value, call.decision.verdict if call.decision else None
    if status == "approved" and call.gated and verdict != "approved":
        yield f"is approved, and its decision is {verdict}"
    if status == "rejected" and verdict != "rejected":
        yield f"is rejected, and its decision is {verdict}"
    yield from _misanswered(call)
    if call.decision is not None and call.decision.at >= call.expires_at:
        yield f"was {verdict} at {call.decision.at}, after its time"
    if status in ("pending", "expired") and verdict is not None:
        yield f"is {status} and carries a decision"
    if status in ENTERED and call.execution is None:
        yield f"is {status} and was never executed"
    if status not in ENTERED and call.execution is not None:
        yield f"is {status} and was executed"
    if call.resolution is not None and status not in ("succeeded", "failed"):
        yield f"is {status} though its doubt was resolved"


def _misanswered(call: PendingToolCall) -> Iterator[str]:
    status, verdict = call.status.value, call.decision.verdict if call.decision else None
    if (status == "answered") != (verdict == "answered"):
        yield f"is {status}, and its decision is {verdict}"
    if verdict == "answered" and (call.question is None or call.decision is None or call.decision.answer is None):
        yield "was answered without a question, or without an answer"
    if call.question is not None and status not in UNENTERED:
        yield f"asks a question and is {status}"


def unapproved(record: PendingToolCall, entry: Entry, skew: timedelta) -> Iterator[str]:
    if record.status.value not in ENTERED:
        yield f"was entered and is {record.status}"
    if record.question is not None:
        yield "asks a question and was entered"
    if not record.gated:
        return
    decision = record.decision
    if decision is None or decision.verdict != "approved":
        yield "was entered without an approval"
    elif decision.at >= record.expires_at:
        yield f"was approved at {decision.at}, after its time"
    elif decision.at > entry.at + skew:
        yield f"was entered at {entry.at}, before its approval"


def waits_its_turn(session: Session, call: PendingToolCall) -> bool:
    """Whether an approved call waits for an earlier one of its turn, which waits for a person."""
    if not session.spec.ordered or call.status.value != "approved":
        return False
    earlier = [session.calls.get(other.call_id) for other in session.open_calls]
    statuses = [record.status.value for record in earlier if record is not None and record is not call]
    return "pending" in statuses or "in_doubt" in statuses


def unrested(session: Session) -> Iterator[str]:
    head, at_an_end = session.head, session.head.status.value in ("completed", "failed", "cancelled")
    if head.status.value == "running":
        yield f"session {head.session_id} still runs"
    waiting = [call for call in session.calls.values() if call.status.value in ("pending", "in_doubt")]
    if head.status.value == "paused" and not waiting:
        yield f"session {head.session_id} is paused and waits for nobody"
    if head.status.value == "completed" and session.open_calls:
        yield f"session {head.session_id} is completed, and calls of it have no result"
    for call in session.calls.values():
        if call.status.value in ("approved", "executing") and not waits_its_turn(session, call):
            yield f"{call.call_id} is still {call.status}"
        if call.status.value == "pending" and at_an_end:
            yield f"{call.call_id} is pending in a session that is {head.status}"
        if call.status.value == "in_doubt" and not call.reconciled and not at_an_end:
            yield f"{call.call_id} is in doubt and nobody was asked"


def standing_words(call: PendingToolCall) -> set[str]:
    words = {call.status.value}
    # Nobody can decide any more what is overdue, whether or not that was noted, or the session was ended since.
    words.add(said(call.decision) if call.decision is not None else "expired")
    if call.resolution is not None:
        words.add(call.resolution.answer)
    return words


def said(decision: Decision) -> str:
    """Return a decision as the word that was posted."""
    return decision.verdict if decision.answer is None else f"{decision.verdict}:{json.loads(decision.answer)}"


def answered(call: PendingToolCall) -> str:
    """Return what a person answered, as the model must read it: in these schedules a text."""
    return said(call.decision).partition(":")[2] if call.decision is not None else ""


def decisions(session: Session, call_id: str) -> list[DecisionRecorded]:
    return [event for event in session.events if isinstance(event, DecisionRecorded) and event.call_id == call_id]


def gaps(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Compare the entries' numbers, where their texts can be read without the bucket."""
    by_session: dict[str, dict[int, Mapping[str, Any]]] = {}
    for row in rows:
        if str(row.get("sk", "")).startswith("EV#"):
            by_session.setdefault(str(row["pk"]), {})[int(str(row["sk"])[3:])] = row
    for session_id, entries in by_session.items():
        expected: int | None = 1
        for first in sorted(entries):
            if expected is not None and first != expected:
                yield f"the log of {session_id} goes on at {first} instead of {expected}"
            body = entries[first].get("body")
            expected = first + len(json.loads(body)) if isinstance(body, str) else None


def results_unsound(session: Session) -> Iterator[str]:
    known: dict[str, ToolCall] = {}
    turns_own: dict[str, str] = {}
    open_calls: set[str] = set()
    told: Counter[str] = Counter()
    for event in session.events:
        match event:
            case AssistantTurn():
                if open_calls:
                    yield f"a turn follows, and {sorted(open_calls)} have no result"
                known |= {call.call_id: call for call in event.calls}
                open_calls = {call.call_id for call in event.calls}
            case CallReissued():
                own = turns_own.get(event.call_id, event.call_id)
                if event.reissued_as in turns_own or event.reissued_as in known:
                    yield f"{event.reissued_as} was taken before it was reissued"
                if own not in open_calls:
                    yield f"{event.call_id} was reissued as {event.reissued_as} after its result"
                turns_own[event.reissued_as] = own
            case ToolResult():
                own = turns_own.get(event.call_id, event.call_id)
                told[own] += 1
                if own not in known:
                    yield f"a result of {event.call_id}, which no turn asked for"
                open_calls.discard(own)
            case _:
                pass
    yield from (f"{own} has {count} results" for own, count in told.items() if count > 1)


def head_unsound(session: Session) -> Iterator[str]:
    status = session.head.status.value
    cancelled = any(isinstance(event, SessionCancelled) for event in session.events)
    if (status == "cancelled") != cancelled:
        yield f"the head is {status}, and the log {'holds' if cancelled else 'does not hold'} a cancellation"
    last = session.events[-1] if session.events else None
    if isinstance(last, SessionFailed) and status not in ("failed", "running"):
        yield f"the head is {status}, and the log ends with a failure"
    if status == "completed" and not (isinstance(last, AssistantTurn) and not last.calls):
        yield f"the head is completed, and the log ends with {type(last).__name__}"
    if status == "failed" and not any(isinstance(event, SessionFailed) for event in session.events):
        yield "the head is failed, and the log says nothing of it"
    if status in ("completed", "failed", "cancelled") and session.head.lease is not None:
        yield f"the head is {status}, and somebody holds its lease"


def records_unsound(session: Session) -> Iterator[str]:
    told = {event.call_id: event for event in session.events if isinstance(event, ToolResult)}
    reissued = {event.call_id: event.reissued_as for event in session.events if isinstance(event, CallReissued)}
    executed: dict[str, ExecutionRecorded] = {
        event.call_id: event for event in session.events if isinstance(event, ExecutionRecorded)
    }
    asked = {call.call_id for event in session.events if isinstance(event, AssistantTurn) for call in event.calls}
    for call in session.calls.values():
        name, status = call.call_id, call.status.value
        if name not in asked and name not in reissued.values():
            yield f"the record {name} belongs to no call of the log"
        in_log = name in told or name in reissued
        if call.told and not in_log and status != "cancelled":
            yield f"{name} counts as answered, and the log holds no result of it"
        if in_log and not call.told:
            yield f"the log holds a result of {name}, and the record does not know"
        succeeded = status in ("succeeded", "answered")
        if (result := told.get(name)) is not None and (result.status == "success") != succeeded:
            yield f"the log says {result.status} of {name}, its record {status}"
        if (event := executed.get(name)) is not None and event.ended_at is not None and event.status != status:
            yield f"the log says that {name} {event.status}, its record {status}"
        if result is not None and status == "answered" and result.text != answered(call):
            yield f"the model read {result.text!r} as the answer to {name}, which is {answered(call)!r}"
        for logged in decisions(session, name):
            if call.decision is None or (logged.verdict, logged.by, logged.at, logged.answer) != (
                call.decision.verdict,
                call.decision.by,
                call.decision.at,
                call.decision.answer,
            ):
                yield f"the log's decision on {name} is not the record's"


def text_of(session: Session) -> str:
    documents = (session.head, session.spec, *session.events, *session.calls.values())
    return "\n".join(repr(document.dump()) for document in documents)
