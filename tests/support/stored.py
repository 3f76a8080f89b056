"""What stores are given: sessions, calls, decisions, executions, and what a runner commits."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, cast

from pausepoint.domain.calls import (
    Answer,
    CallStatus,
    Decision,
    Execution,
    PendingToolCall,
    Question,
    Resolution,
    Verdict,
    closed,
    finished,
)
from pausepoint.domain.canonical import call_digest, sha256_hex
from pausepoint.domain.events import (
    AssistantTurn,
    Event,
    LogEntry,
    SessionCancelled,
    ToolCall,
    ToolResult,
    UserMessage,
)
from pausepoint.domain.session import Lease, Session, SessionHead, SessionSpec, SessionStatus, ToolSpec
from pausepoint.runtime.ports import Commit, FinishedCall, SessionStore
from tests.support.clock import START

MINE = "lease-mine"
RUNNING, PAUSED = SessionStatus.RUNNING, SessionStatus.PAUSED
TOKEN_HASH = sha256_hex("token")
ARGUMENTS = '{"path":"a.txt"}'


def moment(seconds: float) -> datetime:
    """Return the moment so many seconds after the tests' start."""
    return START + timedelta(seconds=seconds)


def a_lease(lease_id: str = MINE, *, until: float = 60) -> Lease:
    return Lease(id=lease_id, until=moment(until))


def a_session(session_id: str = "s1", *, text: str = "hello", **changes: Any) -> Session:
    """Return a new session as its creator makes it, who holds the lease."""
    head = SessionHead(
        session_id=session_id,
        status=RUNNING,
        agent="clerk",
        owner="arn:aws:iam::123456789012:user/jo",
        base_url="https://example.com",
        lease=a_lease(),
        created_at=moment(0),
        updated_at=moment(0),
        expires=int(moment(3600).timestamp()),
        request_hash=sha256_hex(text),
    )
    spec = SessionSpec(
        system="Be brief.",
        tools=(ToolSpec(name="delete", description="Delete a file.", input_schema={"type": "object"}),),
        model={"model_id": "scripted", "temperature": 0.5},
    )
    return Session(head=replace(head, **changes), spec=spec, events=(said(text),))


def a_call(call_id: str = "c2-0", *, session_id: str = "s1", **changes: Any) -> PendingToolCall:
    """Return a gated call that waits, may not be run twice, and whose approver was not told yet."""
    call = PendingToolCall(
        session_id=session_id,
        call_id=call_id,
        tool_call_id="toolu_1",
        name="delete",
        arguments=ARGUMENTS,
        digest=call_digest("delete", ARGUMENTS),
        schema_hash="schema",
        gated=True,
        retry_safe=False,
        status=CallStatus.PENDING,
        agent="clerk",
        requested_by="arn:aws:iam::123456789012:user/jo",
        requested_at=moment(1),
        expires_at=moment(1000),
        token_hashes=(TOKEN_HASH,),
        notify="due",
    )
    return replace(call, **changes)


def a_question(call_id: str = "c2-0", **changes: Any) -> PendingToolCall:
    """Return a call that asks a person something, and whose approver was not told yet."""
    arguments = '{"choices":null,"question":"Which region?"}'
    asked = {
        "name": "ask_human",
        "arguments": arguments,
        "digest": call_digest("ask_human", arguments),
        "question": Question(text="Which region?"),
        "retry_safe": True,
    }
    return a_call(call_id, **{**asked, **changes})


def that_can_be(status: CallStatus, call_id: str = "c2-0") -> PendingToolCall:
    """Return a call that can be brought to a status."""
    return a_question(call_id) if status is CallStatus.ANSWERED else a_call(call_id)


def an_ungated_call(call_id: str = "c2-0", **changes: Any) -> PendingToolCall:
    """Return a call that nobody has to approve, and that may not be run twice."""
    ungated = {"gated": False, "status": CallStatus.APPROVED, "token_hashes": (), "notify": "none"}
    return a_call(call_id, **{**ungated, **changes})


def a_decision(
    call: PendingToolCall, verdict: Verdict = "approved", *, at: float = 10, by: str = "jo", **changes: Any
) -> Decision:
    decision = Decision(
        verdict=verdict,
        by=by,
        at=moment(at),
        verified="link",
        reason="because" if verdict == "rejected" else "",
        digest_shown=call.digest,
        digest_approved=call.digest,
        answer='"eu"' if verdict == "answered" else None,
    )
    return replace(decision, **changes)


def a_resolution(answer: Answer = "happened", *, at: float = 60, by: str = "jo", **changes: Any) -> Resolution:
    resolution = Resolution(answer=answer, by=by, at=moment(at), verified="link", reason="I looked.")
    return replace(resolution, **changes)


def an_execution(
    call: PendingToolCall, execution_id: str = "run-1", *, at: float = 20, deadline: float = 50, **changes: Any
) -> Execution:
    execution = Execution(
        id=execution_id, digest=call.approved_digest, started_at=moment(at), deadline=moment(deadline)
    )
    return replace(execution, **changes)


def said(text: str, *, at: float = 0) -> UserMessage:
    return UserMessage(at=moment(at), by="jo", text=text)


def a_turn(*calls: PendingToolCall, at: float = 1, message: dict[str, Any] | None = None) -> AssistantTurn:
    """Return the model's turn that asks for these calls."""
    asked = tuple(
        ToolCall(
            call_id=call.call_id,
            tool_call_id=call.tool_call_id,
            name=call.name,
            arguments=call.arguments,
            digest=call.digest,
            schema_hash=call.schema_hash,
            gated=call.gated,
            retry_safe=call.retry_safe,
        )
        for call in calls
    )
    return AssistantTurn(
        at=moment(at),
        message=message or {"role": "assistant", "content": [{"text": "Let me see."}]},
        text="Let me see.",
        calls=asked,
        stop_reason="tool_use" if calls else "end_turn",
    )


def a_result(call: PendingToolCall, text: str = "done", *, at: float = 30) -> ToolResult:
    return ToolResult(at=moment(at), call_id=call.call_id, name=call.name, status="success", text=text, entered=True)


def appending(session: Session, *events: Event, lease_id: str = MINE) -> Commit:
    """Return the write of events and nothing else."""
    entry = LogEntry(first=session.next_seq, events=events)
    return Commit(head=session.head, lease_id=lease_id, at=moment(2), entry=entry)


def pausing(
    session: Session, *calls: PendingToolCall, status: SessionStatus | None = PAUSED, lease_id: str = MINE
) -> Commit:
    """Return the write of a turn with its records: the session pauses, or (None) goes on with what can run."""
    entry = LogEntry(first=session.next_seq, events=(a_turn(*calls),))
    return Commit(
        head=session.head,
        lease_id=lease_id,
        at=moment(2),
        entry=entry,
        new_calls=calls,
        status=status,
        keep_lease=status is None,
    )


def ending(
    session: Session, *events: Event, status: SessionStatus = SessionStatus.COMPLETED, lease_id: str = MINE
) -> Commit:
    """Return the write of the last turn."""
    entry = LogEntry(first=session.next_seq, events=events or (a_turn(),))
    return Commit(head=session.head, lease_id=lease_id, at=moment(40), entry=entry, status=status, keep_lease=False)


def settling(head: SessionHead, call: PendingToolCall, execution_id: str | None) -> Commit:
    """Return the write of a call's end alone."""
    finished_call = FinishedCall(call=call, execution_id=execution_id)
    return Commit(head=head, lease_id=MINE, at=moment(30), finished=finished_call)


def closing(session: Session, call: PendingToolCall, execution_id: str | None) -> Commit:
    """Return the write of a call's end together with its result."""
    entry = LogEntry(first=session.next_seq, events=(a_result(call),))
    return replace(settling(session.head, call, execution_id), entry=entry)


def ended(call: PendingToolCall, status: CallStatus = CallStatus.SUCCEEDED) -> PendingToolCall:
    """Return an executing call after its tool came back."""
    assert call.execution is not None
    return finished(call, call.execution.id, status, outcome="done", at=moment(30))


def paused(store: SessionStore, *calls: PendingToolCall, session_id: str = "s1") -> Session:
    """Store a session that waits for these calls."""
    session = a_session(session_id)
    store.create(session)
    store.commit(pausing(session, *calls))
    return store.load(session_id)


def cancelling(session: Session) -> tuple[LogEntry, list[PendingToolCall]]:
    """Return what ends a session: the entry, and its open calls as cancelled."""
    open_calls = [call for call in session.calls.values() if call.status in (CallStatus.PENDING, CallStatus.APPROVED)]
    entry = LogEntry(first=session.next_seq, events=(SessionCancelled(at=moment(35), by="jo"),))
    return entry, [closed(call, CallStatus.CANCELLED) for call in open_calls]


def cancel(store: SessionStore, session: Session) -> None:
    entry, calls = cancelling(session)
    store.close(session, entry, calls, status=SessionStatus.CANCELLED, at=moment(35))


def brought(store: SessionStore, call: PendingToolCall, status: CallStatus) -> PendingToolCall:
    """Bring a pending call to a status, by the store's own steps, and return it as it is stored then."""

    def close(ended_call: PendingToolCall, execution_id: str | None) -> None:
        store.commit(settling(store.head(call.session_id), ended_call, execution_id))

    match status:
        case CallStatus.PENDING:
            pass
        case CallStatus.APPROVED | CallStatus.REJECTED | CallStatus.ANSWERED:
            decision = a_decision(call, cast("Verdict", status.value))
            store.decide(call.session_id, call.call_id, decision, token_hash=TOKEN_HASH)
        case CallStatus.EXPIRED:
            store.expire(call, now=call.expires_at)
        case CallStatus.STALE:
            close(closed(call, status, outcome=f"It is {status}."), None)
        case CallStatus.CANCELLED:
            cancel(store, store.load(call.session_id))
        case CallStatus.EXECUTING:
            approved = brought(store, call, CallStatus.APPROVED)
            store.claim(call.session_id, call.call_id, an_execution(approved))
        case CallStatus.IN_DOUBT:
            executing = brought(store, call, CallStatus.EXECUTING)
            store.doubt(executing, now=moment(51))
        case CallStatus.SUCCEEDED | CallStatus.FAILED:
            executing = brought(store, call, CallStatus.EXECUTING)
            close(ended(executing, status), "run-1")
    return store.call(call.session_id, call.call_id)
