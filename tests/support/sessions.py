"""Sessions, turns and calls for tests of the pure domain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from pausepoint.domain.calls import CallStatus, Decision, Execution, PendingToolCall, Question
from pausepoint.domain.canonical import call_digest, canonical_json
from pausepoint.domain.events import AssistantTurn, DecisionRecorded, Event, ToolCall, ToolResult, Usage, UserMessage
from pausepoint.domain.limits import Limits
from pausepoint.domain.session import Session, SessionHead, SessionSpec, SessionStatus
from tests.support.clock import START

ARGUMENTS = canonical_json({"path": "a.txt"})
DIGEST = call_digest("delete", ARGUMENTS)


def message(text: str = "Delete a.txt") -> UserMessage:
    return UserMessage(at=START, by="maria", text=text)


def tool_call(call_id: str = "c2-0", **changes: Any) -> ToolCall:
    """Return a gated call of a turn."""
    fields: dict[str, Any] = {
        "call_id": call_id,
        "tool_call_id": f"toolu_{call_id}",
        "name": "delete",
        "arguments": ARGUMENTS,
        "digest": DIGEST,
        "schema_hash": "s",
        "gated": True,
        "retry_safe": False,
    }
    return ToolCall(**(fields | changes))


def plain_call(call_id: str, **changes: Any) -> ToolCall:
    """Return a call that needs nobody's word and no record."""
    return tool_call(call_id, **({"gated": False, "retry_safe": True} | changes))


def turn(*calls: ToolCall, text: str = "", stop_reason: str | None = None) -> AssistantTurn:
    content: list[dict[str, Any]] = [{"text": text}] if text else []
    content += [
        {"toolUse": {"toolUseId": call.tool_call_id, "name": call.name, "input": {"path": "a.txt"}}} for call in calls
    ]
    return AssistantTurn(
        at=START,
        message={"role": "assistant", "content": content},
        text=text,
        calls=calls,
        stop_reason=stop_reason or ("tool_use" if calls else "end_turn"),
        usage=Usage(input_tokens=7, output_tokens=3),
    )


def result(call_id: str, text: str = "done") -> ToolResult:
    return ToolResult(at=START, call_id=call_id, name="delete", status="success", text=text, entered=True)


def decision_recorded(verdict: Any, *, call_id: str = "c2-0", digest: str = DIGEST) -> DecisionRecorded:
    return DecisionRecorded(
        at=START,
        call_id=call_id,
        name="delete",
        verdict=verdict,
        by="maria",
        verified="link",
        reason="",
        digest_shown=digest,
    )


def record(call_id: str = "c2-0", **changes: Any) -> PendingToolCall:
    """Return a gated call's record: pending, with one link."""
    fields: dict[str, Any] = {
        "session_id": "s1",
        "call_id": call_id,
        "tool_call_id": f"toolu_{call_id}",
        "name": "delete",
        "arguments": ARGUMENTS,
        "digest": DIGEST,
        "schema_hash": "s",
        "gated": True,
        "retry_safe": False,
        "status": CallStatus.PENDING,
        "agent": "clerk",
        "requested_by": "maria",
        "requested_at": START,
        "expires_at": START + timedelta(hours=1),
        "token_hashes": ("hash",),
    }
    return PendingToolCall(**(fields | changes))


def question(call_id: str = "c2-0", **changes: Any) -> PendingToolCall:
    """Return the record of a call that asks a person something."""
    asked = {"question": Question(text="Which region?"), "retry_safe": True}
    return record(call_id, **(asked | changes))


def decision(verdict: Any = "approved", **changes: Any) -> Decision:
    fields: dict[str, Any] = {
        "verdict": verdict,
        "by": "maria",
        "at": START,
        "verified": "link",
        "digest_shown": DIGEST,
        "digest_approved": DIGEST,
    }
    return Decision(**(fields | changes))


def execution(**changes: Any) -> Execution:
    fields: dict[str, Any] = {
        "id": "x1",
        "digest": DIGEST,
        "started_at": START,
        "deadline": START + timedelta(minutes=15),
    }
    return Execution(**(fields | changes))


def session_of(
    *events: Event,
    calls: Sequence[PendingToolCall] = (),
    ordered: bool = False,
    limits: Mapping[str, int] | None = None,
    status: SessionStatus = SessionStatus.RUNNING,
) -> Session:
    head = SessionHead(
        session_id="s1",
        status=status,
        agent="clerk",
        owner="maria",
        base_url="https://api.example",
        limits=Limits(**(limits or {})),
        created_at=START,
        updated_at=START,
        expires=int((START + timedelta(days=30)).timestamp()),
    )
    spec = SessionSpec(system="Be brief.", tools=(), model={"model_id": "scripted"}, ordered=ordered)
    return Session(head=head, spec=spec, events=events, calls={call.call_id: call for call in calls})
