"""The JSON bodies that the API answers with."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from pausepoint.domain.calls import Decision, PendingToolCall
from pausepoint.domain.events import Event
from pausepoint.domain.fields import moment_text
from pausepoint.domain.identity import identity_of
from pausepoint.domain.session import Session, SessionHead
from pausepoint.runtime.result import AgentResult

if TYPE_CHECKING:
    from pausepoint.http.answers import CallBody, EndingBody, EventsBody, HeadBody, SessionBody, WaitingBody

MAX_PAGE_BYTES: Final = 4 * 1024 * 1024
"""An answer of Lambda has at most 6 MB, and what surrounds the events needs some of it."""


def call_body(call: PendingToolCall) -> CallBody:
    """Return a call as the API shows it. The hashes of its links stay inside."""
    body: CallBody = {
        "call_id": call.call_id,
        "tool_call_id": call.tool_call_id,
        "name": call.name,
        "arguments": json.loads(call.arguments),
        "status": call.status,
        "risk": call.presentation.risk,
        "warning": call.presentation.warning,
        "highlight": list(call.presentation.highlight),
        "model_text": call.presentation.model_text,
        "digest": call.digest,
        "requested_at": moment_text(call.requested_at),
        "expires_at": moment_text(call.expires_at),
    }
    if call.question is not None:
        body["question"] = {"text": call.question.text, "choices": list(call.question.choices)}
    if call.decision is not None:
        body["decision"] = _decision_body(call.decision)
    if call.resolution is not None:
        body["resolution"] = _with_identity(call.resolution.dump())
    return body


def _decision_body(decision: Decision) -> dict[str, Any]:
    body = decision.dump()
    for name in {"arguments", "answer"} & body.keys():  # stored as canonical text
        body[name] = json.loads(body[name])
    return _with_identity(body)


def _with_identity(body: dict[str, Any]) -> dict[str, Any]:
    identity = identity_of(body["verified"])
    return body if identity is None else {**body, "identity": identity}


def session_body(session: Session) -> SessionBody:
    """Return a session as `run`, `resume` and `GET /sessions/{id}` answer it."""
    result = AgentResult(session)
    failure = session.failure
    ending: EndingBody = {"error": {"code": failure.code, "message": failure.message}} if failure else {}
    return {
        **head_body(session.head),
        "output": result.output,
        "pending_calls": [call_body(call) for call in result.pending_calls],
        "usage": {
            "model_calls": session.model_calls,
            "tool_calls": session.tool_calls,
            "input_tokens": session.usage.input_tokens,
            "output_tokens": session.usage.output_tokens,
        },
        **ending,
    }


def head_body(head: SessionHead) -> HeadBody:
    """Return a session's head as the lists show it."""
    return {
        "session_id": head.session_id,
        "status": head.status,
        "agent": head.agent,
        "requested_by": head.owner,
        "created_at": moment_text(head.created_at),
        "updated_at": moment_text(head.updated_at),
    }


def events_body(events: Sequence[Event], *, after: int, limit: int) -> EventsBody:
    """Return a page of a session's log; `next` is the `after` of the next page, or null.

    A page ends early where the answer would get too large for Lambda; it has at least one event.
    """
    page: list[dict[str, Any]] = []
    size = 0
    for seq, event in enumerate(events[after : after + limit], after + 1):
        body = _event_body(seq, event)
        size += len(json.dumps(body, ensure_ascii=False).encode("utf-8", "surrogatepass"))
        if page and size > MAX_PAGE_BYTES:
            break
        page.append(body)
    reached = after + len(page)
    return {"events": page, "next": str(reached) if page and reached < len(events) else None}


def waiting_body(call: PendingToolCall, now: datetime) -> WaitingBody:
    """Return a call as the list of approvals shows it, with its age in seconds."""
    return {
        "session_id": call.session_id,
        "agent": call.agent,
        "requested_by": call.requested_by,
        **call_body(call),
        "age_seconds": int((now - call.requested_at).total_seconds()),
    }


def _event_body(seq: int, event: Event) -> dict[str, Any]:
    # The provider's own message is for the model: it may hold thoughts, signatures and bytes.
    document = event.dump(without={"message"})
    if "verified" in document:
        document = _with_identity(document)
    if event.type == "session_failed":
        document["message"] = event.message
    for call in document.get("calls", ()):
        if "arguments" in call:
            call["arguments"] = json.loads(call["arguments"])
    return {"seq": seq, **document}
