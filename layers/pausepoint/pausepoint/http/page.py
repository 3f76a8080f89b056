"""The pages that people see: what would run and the form, what became of it, and what is wrong."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from pausepoint.domain.calls import CallStatus
from pausepoint.domain.canonical import short_code
from pausepoint.http.headers import TEMPLATES, style_text
from pausepoint.http.rows import Arguments, read_arguments
from pausepoint.http.visible import Segment, ascii_escaped, flat, visible
from pausepoint.http.wording import VERIFIED, absolute, ending, relative, sentences
from pausepoint.runtime.decisions import MAX_REASON_CHARACTERS

if TYPE_CHECKING:
    from datetime import datetime

    from jinja2 import Environment

    from pausepoint.domain.calls import Decision, PendingToolCall


@dataclass(frozen=True)
class _Fact:
    label: str
    value: list[Segment]
    aside: str = ""


@dataclass(frozen=True)
class _Shown:
    """One text of a call: its arguments, their ASCII form and their digest."""

    heading: str
    arguments: Arguments
    exact: str
    digest: str


def approval_page(call: PendingToolCall, *, token: str, action: str, now: datetime, needs_code: bool = False) -> str:
    """Return the page that shows what would run and asks for a decision.

    Args:
        call: a pending call.
        token: the link's secret; the form sends it back.
        action: the address that the form posts to, without the token.
        now: for the distance to the expiry only.
        needs_code: approving takes a one-time code.
    """
    return _render(
        "approval.html",
        title=f"Approve {flat(visible(call.name))}?",
        tool=visible(call.name),
        agent=visible(call.agent),
        shown=_Shown("Arguments", read_arguments(call.arguments), ascii_escaped(call.arguments), call.digest),
        facts_shown=_request_facts(call, now),
        identity=_identity_facts(call),
        expires=absolute(call.expires_at),
        expires_in=relative(call.expires_at, now),
        token=token,
        action=action,
        digest=call.digest,
        max_reason=MAX_REASON_CHARACTERS,
        needs_code=needs_code,
    )


def doubt_page(call: PendingToolCall, *, token: str, action: str, now: datetime) -> str:
    """Return the page that asks what became of a call that was cut off. Arguments as for `approval_page`."""
    ran = call.approved_arguments
    return _render(
        "doubt.html",
        title=f"Did {flat(visible(call.name))} happen?",
        tool=visible(call.name),
        agent=visible(call.agent),
        words=sentences(call, now),
        shown=_Shown(
            "What was run" if ran == call.arguments else "What was run, as the approver changed it",
            read_arguments(ran),
            ascii_escaped(ran),
            call.approved_digest,
        ),
        decision_facts=_decision_facts(call, call.decision) if call.decision else [],
        facts_shown=_request_facts(call, now),
        identity=_identity_facts(call),
        token=token,
        action=action,
        digest=call.approved_digest,
        max_reason=MAX_REASON_CHARACTERS,
    )


def outcome_page(call: PendingToolCall, *, now: datetime, heading: str | None = None) -> str:
    """Return the page that tells what became of a call, with what was shown and what ran.

    Args:
        call: any call that is not open to a decision any more.
        now: tells whether a pending call is overdue; distances in time.
        heading: replaces the title that the status has, e.g. "Already decided".
    """
    told = ending(call, now)
    decision = call.decision
    edited = decision is not None and decision.arguments is not None
    shown = [
        _Shown(
            "What was shown" if edited else "Arguments",
            read_arguments(call.arguments),
            ascii_escaped(call.arguments),
            call.digest,
        )
    ]
    if edited:
        approved = call.approved_arguments
        verb = "What ran" if call.execution else "What may run"
        shown.append(
            _Shown(
                f"{verb}, as the approver changed it",
                read_arguments(approved),
                ascii_escaped(approved),
                call.approved_digest,
            )
        )
    return _render(
        "outcome.html",
        title=f"{heading or told.title}: {flat(visible(call.name))}",
        heading=visible(heading or told.title),
        tool=visible(call.name),
        agent=visible(call.agent),
        ending=told,
        words=sentences(call, now),
        text=visible(call.outcome) if call.outcome else None,
        reason=visible(decision.reason) if decision and decision.reason else None,
        note=visible(call.resolution.reason) if call.resolution and call.resolution.reason else None,
        shown=shown,
        decision_facts=_decision_facts(call, decision) if decision else [],
        facts_shown=_request_facts(call, now),
        identity=_identity_facts(call),
    )


def problem_page(title: str, text: str) -> str:
    """Return a page for what cannot be shown or done: 400, 404, 410 and the like."""
    return _render("problem.html", title=title, heading=visible(title), text=visible(text))


def _request_facts(call: PendingToolCall, now: datetime) -> list[_Fact]:
    facts = [
        _Fact("Agent", visible(call.agent)),
        _Fact("Asked by", visible(call.requested_by)),
        _Fact("Asked at", visible(absolute(call.requested_at)), relative(call.requested_at, now)),
    ]
    if call.status is CallStatus.IN_DOUBT:  # there is no hurry any more
        return [*facts, _Fact("Code", visible(short_code(call.approved_digest)), "of exactly what was run")]
    left = relative(call.expires_at, now) if call.status is CallStatus.PENDING else ""
    return [
        *facts,
        _Fact("Decide before", visible(absolute(call.expires_at)), left),
        _Fact("Code", visible(short_code(call.digest)), "of exactly these arguments"),
    ]


def _identity_facts(call: PendingToolCall) -> list[_Fact]:
    return [_Fact("Session", visible(call.session_id)), _Fact("Call", visible(call.call_id))]


def _decision_facts(call: PendingToolCall, decision: Decision) -> list[_Fact]:
    facts = [
        _Fact("Decision", visible(decision.verdict)),
        _Fact("Decided by", visible(decision.by)),
        _Fact("Decided at", visible(absolute(decision.at))),
        _Fact("Verified", visible(VERIFIED[decision.verified])),
        _Fact("Code shown", visible(short_code(decision.digest_shown))),
    ]
    if call.execution:
        facts.append(_Fact("Code run", visible(short_code(call.execution.digest))))
        facts.append(_Fact("Started at", visible(absolute(call.execution.started_at))))
        if call.execution.ended_at:
            facts.append(_Fact("Ended at", visible(absolute(call.execution.ended_at))))
    return facts


def _render(template: str, **context: object) -> str:
    return _environment().get_template(template).render(style=style_text(), **context)


@cache
def _environment() -> Environment:
    # Most functions never make a page: the import waits for the first one.
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # noqa: PLC0415

    return Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
