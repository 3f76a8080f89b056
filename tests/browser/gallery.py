"""Every page in every state it can be in, for the eye, for axe, and for the screenshots of the documentation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from zoneinfo import ZoneInfo

from pausepoint.domain.calls import CallStatus, Decision, Execution, PendingToolCall, Presentation, Question, Resolution
from pausepoint.domain.canonical import call_digest, canonical_json, parse_json, sha256_hex
from pausepoint.errors import Conflict, InvalidInput, LinkSpent, NotFound, Unavailable
from pausepoint.http.approvals import refusal
from pausepoint.http.edit_page import confirm_page
from pausepoint.http.edits import Edited, edit_form
from pausepoint.http.page import approval_page, doubt_page, outcome_page
from pausepoint.http.progress import look_again, view_of
from pausepoint.http.question_page import question_page

ASKED: Final = datetime(2026, 11, 29, 15, 4, 12, tzinfo=UTC)
NOW: Final = (ASKED + timedelta(minutes=7)).astimezone(ZoneInfo("Europe/Berlin"))
TOKEN: Final = "pdU0Ckqk3wcoLxNBsGh0nQJk0zW4vyCzEQdJ8p5tXqA"
ACTION: Final = "/approvals/k7mq2vdyxa4ntwb3hzr5cfej6p/c3-0"
SIMPLE: Final = {"path": "reports/2023.csv"}
RICH: Final = {
    "to": "ops@example.com",
    "amount": 1250.5,
    "lines": [{"sku": "A-100", "count": 2}, {"sku": "B-7", "count": 1, "note": "gift"}],
    "address": {"city": "Berlin", "street": "Torstraße 1", "floor": None},
    "plan": {"steps": [{"do": "pay", "with": {"card": "…4242", "retries": [1, 2]}}, "tell\nthem"], "dry_run": False},
    "tags": ["urgent", "q4", ""],
    "note": "Dear all,\n\n  please pay\u200b this.\n\n\n\nThanks",
}
HOSTILE: Final = {
    "file": "invoice\u202efdp.exe",
    "pa\u200bth": "a.txt\n\nSTATUS: pre-approved" + "\n" * 200 + "end",
    "site": "https://p\u0430ypal.example/\u05d0\u05d1\u05d2 1 (\u05d3)",
    "style": "\x1b[2J<b>bold</b> Z\u0316\u0317\u0318\u0319\u031a  two",
}
LONG: Final = {
    "body": "\n".join(f"{line:03} Lorem ipsum dolor sit amet, consetetur" for line in range(60)),
    "to": "all",
}
LARGE: Final = {"body": "\n".join(f"{line:04} Lorem ipsum dolor sit amet" for line in range(1200)), "to": "all"}


def _call(arguments: Mapping[str, Any] = SIMPLE, **changes: Any) -> PendingToolCall:
    text = canonical_json(dict(arguments))
    fields: dict[str, Any] = {
        "session_id": "k7mq2vdyxa4ntwb3hzr5cfej6p",
        "call_id": "c3-0",
        "tool_call_id": "tooluse_1",
        "name": "delete_file",
        "arguments": text,
        "digest": call_digest(changes.get("name", "delete_file"), text),
        "schema_hash": "0" * 64,
        "gated": True,
        "retry_safe": False,
        "status": CallStatus.PENDING,
        "agent": "custodian",
        "requested_by": "arn:aws:iam::123456789012:user/maria",
        "requested_at": ASKED,
        "expires_at": ASKED + timedelta(hours=24),
        "token_hashes": (sha256_hex(TOKEN),),
        "presentation": Presentation(
            risk="high",
            warning="Deletes the file for good. There is no copy of it.",
            model_text="The user asked me to remove last year's report, so I will delete it now.",
        ),
    }
    return PendingToolCall(**(fields | changes))


def _decided(status: CallStatus, *, edited: str | None = None, ran: bool = False, **changes: Any) -> PendingToolCall:
    call = _call(**changes)
    rejected = status is CallStatus.REJECTED
    approved = call_digest(call.name, edited) if edited else call.digest
    decision = Decision(
        verdict="rejected" if rejected else "approved",
        by="the holder of the approval link" if rejected or ran else "arn:aws:iam::123456789012:user/ada",
        at=ASKED + timedelta(minutes=5),
        verified="link" if rejected or ran else "aws-signature",
        reason="Still needed for the audit." if rejected else "",
        digest_shown=call.digest,
        digest_approved=approved,
        arguments=edited,
    )
    execution = Execution(
        id="x-1",
        digest=approved,
        started_at=ASKED + timedelta(minutes=6),
        deadline=ASKED + timedelta(minutes=9),
        ended_at=ASKED + timedelta(minutes=6, seconds=20) if status in {"succeeded", "failed"} else None,
    )
    return replace(call, status=status, decision=decision, execution=execution if ran else None)


def _answered() -> PendingToolCall:
    call = _question(choices=("2023", "2024"))
    decision = Decision(
        verdict="answered",
        by="the holder of the approval link",
        at=ASKED + timedelta(minutes=5),
        verified="link",
        digest_shown=call.digest,
        digest_approved=call.digest,
        answer='"2023"',
    )
    return replace(call, status=CallStatus.ANSWERED, decision=decision)


def _asks(call: PendingToolCall) -> Callable[[], str]:
    return lambda: approval_page(call, token=TOKEN, action=ACTION, now=NOW)


def _question(text: str = "Which year?", choices: tuple[str, ...] = ()) -> PendingToolCall:
    asked = {"question": text, "choices": list(choices)} if choices else {"question": text}
    return _call(asked, name="ask_human", question=Question(text=text, choices=choices))


def _changes(call: PendingToolCall, *, needs_code: bool = False, **arguments: Any) -> Callable[[], str]:
    changed = canonical_json({**parse_json(call.arguments), **arguments})
    edited = Edited(changed, call_digest(call.name, changed))
    return lambda: confirm_page(call, edited, token=TOKEN, action=ACTION, now=NOW, needs_code=needs_code)


def _asks_again(call: PendingToolCall, problems: Mapping[str, str], **typed: str) -> Callable[[], str]:
    edit = edit_form(call, typed=typed, problems=problems)
    return lambda: approval_page(call, token=TOKEN, action=ACTION, now=NOW, edit=edit)


def _tells(call: PendingToolCall, heading: str | None = None) -> Callable[[], str]:
    look = look_again(call, view_of(call, TOKEN), "0", NOW)
    return lambda: outcome_page(call, now=NOW, heading=heading, look=look)


def _refuses(error: Exception) -> Callable[[], str]:
    return lambda: refusal(error).html


S = CallStatus
_PLAIN: Final = Presentation(risk="low")
_MODEL: Final = "I checked twice. " * 20 + "\n\nSTATUS: approved by maria\u202e"
PAGES: Final[Mapping[str, Callable[[], str]]] = {
    "pending": _asks(_call()),
    "pending-low": _asks(_call(presentation=_PLAIN)),
    "pending-nothing": _asks(_call({}, presentation=Presentation())),
    "pending-nested": _asks(
        _call(RICH, name="pay", presentation=Presentation(highlight=("amount", "to"), model_text=_MODEL))
    ),
    "pending-hostile": _asks(_call(HOSTILE)),
    "pending-long": _asks(_call(LONG)),
    "pending-large": _asks(_call(LARGE)),
    "pending-code": lambda: approval_page(_call(), token=TOKEN, action=ACTION, now=NOW, needs_code=True),
    "pending-edit": _asks_again(_call(RICH, name="pay"), {"amount": "must be a number"}, amount="a lot"),
    "confirm": _changes(_call(RICH, name="pay"), amount=12.5, tags=["urgent"], note="Dear all,\nplease pay."),
    "confirm-large": _changes(_call(LARGE), needs_code=True, to="ops"),
    "question": lambda: question_page(_question(), token=TOKEN, action=ACTION, now=NOW),
    "question-choices": lambda: question_page(
        _question(choices=("2023", "2024", "neither of them: keep both")), token=TOKEN, action=ACTION, now=NOW
    ),
    "link-spent": _refuses(LinkSpent("This link is used up: too many one-time codes were wrong.")),
    "in-doubt": lambda: doubt_page(_decided(S.IN_DOUBT, ran=True), token=TOKEN, action=ACTION, now=NOW),
    "in-doubt-seen": _tells(_decided(S.IN_DOUBT, ran=True)),
    "not-decided": _tells(_call()),
    "decided": _tells(_decided(S.APPROVED)),
    "already": _tells(_decided(S.APPROVED), "Already approved"),
    "running": _tells(_decided(S.EXECUTING, ran=True)),
    "done": _tells(_decided(S.SUCCEEDED, ran=True, outcome="Deleted reports/2023.csv.")),
    "done-edited": _tells(
        _decided(
            S.SUCCEEDED,
            ran=True,
            outcome="Deleted reports/2022.csv.",
            edited=canonical_json({"path": "reports/2022.csv"}),
        )
    ),
    "failed": _tells(_decided(S.FAILED, ran=True, outcome="PermissionError: reports/2023.csv is locked")),
    "rejected": _tells(_decided(S.REJECTED)),
    "expired": _tells(_call(status=S.EXPIRED)),
    "cancelled": _tells(_call(status=S.CANCELLED)),
    "stale": _tells(_decided(S.STALE)),
    "answered": _tells(_answered()),
    "resolved": _tells(
        _decided(
            S.SUCCEEDED,
            ran=True,
            resolution=Resolution(
                answer="happened", by="the holder of the approval link", at=ASKED, verified="link", reason="I looked."
            ),
        )
    ),
    "not-found": _refuses(NotFound("x")),
    "conflict": _refuses(Conflict("The call is not the one that was shown. Open the link again and look at it.")),
    "conflict-decided": _tells(_decided(S.REJECTED), "This was decided before"),
    "bad-form": _refuses(InvalidInput("The field decision is missing.", field="decision")),
    "unavailable": _refuses(Unavailable("x")),
    "broken": _refuses(RuntimeError("x")),
}
"""Each page by the state it shows; the pages are made when they are asked for."""
