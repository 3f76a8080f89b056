"""Calls to show, and a reader of pages that sees what a browser would see."""

from __future__ import annotations

import html
import re
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from typing import Any

from pausepoint.domain.calls import CallStatus, Decision, Execution, PendingToolCall, Verdict
from pausepoint.domain.canonical import call_digest, canonical_json

ASKED = datetime(2026, 11, 29, 15, 4, 12, tzinfo=UTC)
NOW = ASKED + timedelta(minutes=7)
EDITED = canonical_json({"path": "other.txt"})


def pending_call(arguments: dict[str, Any] | None = None, **changes: Any) -> PendingToolCall:
    canonical = canonical_json({"path": "a.txt"} if arguments is None else arguments)
    fields: dict[str, Any] = {
        "session_id": "s-1",
        "call_id": "c3-0",
        "tool_call_id": "tooluse_1",
        "name": "delete_file",
        "arguments": canonical,
        "digest": call_digest("delete_file", canonical),
        "schema_hash": "0" * 64,
        "gated": True,
        "retry_safe": False,
        "status": CallStatus.PENDING,
        "agent": "custodian",
        "requested_by": "arn:aws:iam::123456789012:user/maria",
        "requested_at": ASKED,
        "expires_at": ASKED + timedelta(hours=24),
    }
    return PendingToolCall(**(fields | changes))


def decided_call(
    status: CallStatus,
    *,
    verdict: Verdict = "approved",
    reason: str = "",
    edited: str | None = None,
    ran: bool = False,
    **changes: Any,
) -> PendingToolCall:
    call = pending_call()
    approved = call_digest(call.name, edited) if edited else call.digest
    decision = Decision(
        verdict=verdict,
        by="the holder of the approval link",
        at=ASKED + timedelta(minutes=5),
        verified="link",
        reason=reason,
        digest_shown=call.digest,
        digest_approved=approved,
        arguments=edited,
    )
    execution = Execution(
        id="x-1",
        digest=approved,
        started_at=ASKED + timedelta(minutes=6),
        deadline=ASKED + timedelta(minutes=9),
        ended_at=ASKED + timedelta(minutes=8) if status in {"succeeded", "failed"} else None,
    )
    return pending_call(status=status, decision=decision, execution=execution if ran else None, **changes)


class Page(HTMLParser):
    """The tags of a page with their attributes, and the text of its body."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(source)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def stripped(source: str) -> str:
    """Return what is left of HTML without its tags."""
    return html.unescape(re.sub(r"<[^>]*>", "", source))


def words(source: str) -> str:
    """Return the text of a page's body, with white space as a browser collapses it."""
    return " ".join(stripped(source[source.index("<main>") :]).split())


def table(source: str) -> str:
    """Return the text of the first table of arguments, with white space collapsed."""
    start = source.index('<dl class="arguments">')
    return " ".join(stripped(source[start : source.index("</dl>", start)]).split())
