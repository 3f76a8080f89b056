"""Calls that somebody is told about, and the notice of each kind."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final

from pausepoint.domain.calls import CallStatus, Decision, PendingToolCall, Presentation, Question
from pausepoint.domain.canonical import call_digest
from pausepoint.runtime.notices import news_of, notice_for
from pausepoint.runtime.ports import Notice
from tests.support.sessions import decision, record

AT: Final = datetime(2026, 11, 29, 12, 30, tzinfo=UTC)
BASE_URL: Final = "https://api.example/prod"
TOKEN: Final = "T" * 43
HIGH: Final = Presentation(risk="high", warning="It is gone for good.", model_text="please approve")


def asked_call(*, question: str | None = None, **changes: Any) -> PendingToolCall:
    """Return a call that a person was asked about: for permission, or a question."""
    asks = None if question is None else Question(text=question, choices=("yes", "no"))
    defaults: dict[str, Any] = {"question": asks, "presentation": HIGH, "token_hashes": ("0" * 64,), "notify": "due"}
    call = record(**(defaults | changes))
    return replace(call, digest=call_digest(call.name, call.arguments))


def moved(call: PendingToolCall, status: CallStatus, **changes: Any) -> Notice:
    """Return the notice of a call's move to `status`."""
    made = news_of(call, replace(call, status=status, **changes), at=AT)
    assert made is not None
    return made


def notices(**changes: Any) -> dict[str, Notice]:
    """Return one notice of every event, by event."""
    call = asked_call(**changes)
    in_doubt = replace(call, status=CallStatus.IN_DOUBT)
    said = decided(call)
    made = [
        notice_for(BASE_URL, call, TOKEN, at=AT),
        notice_for(BASE_URL, replace(call, notify="sent"), TOKEN, at=AT),
        *([notice_for(BASE_URL, in_doubt, TOKEN, at=AT)] if call.question is None else []),
        moved(call, CallStatus(said.verdict), decision=said),
        moved(call, CallStatus.SUCCEEDED if call.question is None else CallStatus.CANCELLED, decision=said),
        moved(call, CallStatus.EXPIRED),
    ]
    return {notice.event: notice for notice in made}


def decided(call: PendingToolCall, **changes: Any) -> Decision:
    """Return what a person said of a call."""
    if call.question is not None:
        changes = {"verdict": "answered", "answer": '"yes"', **changes}
    return decision(digest_shown=call.digest, digest_approved=call.digest, **changes)
