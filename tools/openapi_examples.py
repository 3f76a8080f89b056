"""Examples for the description of the API; a test holds them against the schemas."""

from __future__ import annotations

from typing import Any, Final

_SESSION_ID: Final = "k4q7zx2mwd5htj3rbnv6yafecu"
_CALL: Final[dict[str, Any]] = {
    "call_id": "c2-0",
    "tool_call_id": "tooluse_Wd5htj3rbnv6",
    "name": "delete_file",
    "arguments": {"path": "reports/2023.csv"},
    "status": "pending",
    "risk": "high",
    "warning": "A deleted file cannot be brought back.",
    "highlight": ["path"],
    "model_text": "The report is older than a year, so I will delete it.",
    "digest": "9f3c5f0c7e1f4d0f9b8f0a4b8d7f5a3e1c6b2d9e8f7a6b5c4d3e2f1a0b9c8d7e",
    "requested_at": "2026-11-29T15:04:12.000000Z",
    "expires_at": "2026-11-30T15:04:12.000000Z",
}
_HEAD: Final[dict[str, Any]] = {
    "session_id": _SESSION_ID,
    "status": "paused",
    "agent": "custodian",
    "requested_by": "arn:aws:iam::123456789012:user/ada",
    "created_at": "2026-11-29T15:04:10.000000Z",
    "updated_at": "2026-11-29T15:04:12.000000Z",
}
_DECISION: Final[dict[str, Any]] = {
    "verdict": "approved",
    "by": "arn:aws:iam::123456789012:user/bob",
    "at": "2026-11-29T15:20:00.000000Z",
    "verified": "aws-signature",
    "reason": "We have a backup.",
    "digest_shown": _CALL["digest"],
    "digest_approved": _CALL["digest"],
    "identity": "verified",
}
_RECORDED: Final[dict[str, Any]] = {
    "seq": 3,
    "type": "decision",
    "at": _DECISION["at"],
    "call_id": "c2-0",
    "name": "delete_file",
    **{name: _DECISION[name] for name in ("verdict", "by", "verified", "reason", "digest_shown", "identity")},
}
EXAMPLES: Final[dict[str, dict[str, Any]]] = {
    "NewMessage": {"message": "Delete reports/2023.csv, please."},
    "ResumeRequest": {"decisions": [{"call_id": "c2-0", "decision": "approved", "reason": "We have a backup."}]},
    "CallBody": _CALL,
    "Decision": _DECISION,
    "HeadBody": _HEAD,
    "SessionBody": {
        **_HEAD,
        "output": "I need your approval to delete it.",
        "pending_calls": [_CALL],
        "usage": {"model_calls": 1, "tool_calls": 1, "input_tokens": 512, "output_tokens": 64},
    },
    "SessionsBody": {"sessions": [_HEAD], "next": None},
    "ApprovalsBody": {
        "approvals": [
            {
                "session_id": _SESSION_ID,
                "agent": "custodian",
                "requested_by": _HEAD["requested_by"],
                **_CALL,
                "age_seconds": 948,
            }
        ],
        "next": None,
    },
    "EventsBody": {"events": [_RECORDED], "next": "3"},
}
