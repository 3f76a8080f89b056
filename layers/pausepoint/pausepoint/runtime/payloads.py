"""What programs are sent about a call: the body of a webhook. docs/webhooks.md is its reference."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any, Final

from pausepoint.domain.calls import PendingToolCall
from pausepoint.domain.fields import moment_text
from pausepoint.runtime.ports import NoticeEvent

MAX_TEXT_BYTES: Final = 32 * 1024
"""What takes more as JSON in ASCII (arguments, a question, its choices, an answer) is left out: a message of SNS has
256 KiB at most."""


def message_id(event: NoticeEvent, session_id: str, call_id: str) -> str:
    """Return the id of a message: the same for every attempt and every duplicate, so that receivers can drop them.

    Standard Webhooks joins it to other parts by full stops, so it has none.
    """
    return f"msg_{session_id}_{call_id}_{event}"


def payload_for(
    event: NoticeEvent, call: PendingToolCall, *, at: datetime, text: str, approve_url: str | None = None
) -> str:
    """Return the JSON text, in ASCII.

    Args:
        at: when it happened.
        text: what a chat shows: our own words, names from the registry, ids.
        approve_url: the page where the call is decided, with the secret in it; None where nobody is asked.
    """
    data = {
        "approve_url": approve_url,
        "digest": call.digest,
        "risk": call.presentation.risk,
        "call": _call(call),
        "decision": _said(call.decision, "verdict", "answer", "digest_approved") if call.decision else None,
        "resolution": _said(call.resolution, "answer") if call.resolution else None,
    }
    return json.dumps(
        {
            "id": message_id(event, call.session_id, call.call_id),
            "type": f"approval.{event}",
            "timestamp": moment_text(at),
            "text": text,
            "data": data,
        }
    )


def _call(call: PendingToolCall) -> dict[str, Any]:
    question = call.question
    return {
        "session_id": call.session_id,
        "call_id": call.call_id,
        "name": call.name,
        "agent": call.agent,
        "status": str(call.status),
        "kind": "approval" if question is None else "question",
        "arguments": _unless_long(call.arguments),
        "question": _unless_long(question.text) if question else None,
        "choices": list(question.choices) if question and _unless_long("".join(question.choices)) else [],
        "requested_by": call.requested_by,
        "requested_at": moment_text(call.requested_at),
        "expires_at": moment_text(call.expires_at),
    }


def _said(document: Any, *names: str) -> dict[str, Any]:
    """Return what somebody said of a call: who, when, how that is known, and the parts that are named."""
    stored = document.dump()
    parts = {name: stored.get(name) for name in ("by", "at", "verified", "reason", *names)}
    return {name: _unless_long(value) if isinstance(value, str) else value for name, value in parts.items()}


def _unless_long(text: str) -> str | None:
    return text if len(json.dumps(text)) <= MAX_TEXT_BYTES else None
