"""The pages that people see: what would run and the form, what became of it, and what is wrong."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from pausepoint.domain.calls import CallStatus
from pausepoint.domain.canonical import parse_json, short_code
from pausepoint.http.headers import TEMPLATES, style_text
from pausepoint.http.large import word_of
from pausepoint.http.presenting import model_words, stakes
from pausepoint.http.rows import Arguments, read_arguments
from pausepoint.http.values import Value, kind_of, shown_value
from pausepoint.http.visible import Segment, ascii_escaped, flat, visible
from pausepoint.http.wording import IDENTITY, absolute, ending, local, relative, sentences, when
from pausepoint.runtime.decisions import MAX_REASON_CHARACTERS

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

    from jinja2 import Environment

    from pausepoint.domain.calls import PendingToolCall
    from pausepoint.http.progress import Look


@dataclass(frozen=True)
class _Fact:
    label: str
    value: list[Segment]
    aside: str = ""
    badge: str = ""


@dataclass(frozen=True)
class _Shown:
    """One text of a call: its arguments, their ASCII form and their digest; `word` is asked for where they are long."""

    heading: str
    arguments: Arguments
    exact: str
    digest: str
    word: str = ""


@dataclass(frozen=True)
class _Answer:
    """What a person answered."""

    kind: str
    value: Value


def approval_page(call: PendingToolCall, *, token: str, action: str, now: datetime) -> str:
    """Return the page that shows what would run and asks for a decision.

    Args:
        call: a pending call.
        token: the link's secret; the form sends it back.
        action: the address that the form posts to, without the token.
        now: for distances in time only; its time zone is the reader's.
    """
    return _render(
        "approval.html",
        title=f"Approve {flat(visible(call.name))}?",
        tool=visible(call.name),
        agent=visible(call.agent),
        stakes=stakes(call),
        shown=shown_arguments("Arguments", call.arguments, call.digest, call.presentation.highlight, asks_word=True),
        said=model_words(call),
        facts_shown=_request_facts(call, now),
        identity=_identity_facts(call),
        expires=when(call.expires_at, now),
        expires_in=relative(call.expires_at, now),
        token=token,
        action=action,
        digest=call.digest,
        max_reason=MAX_REASON_CHARACTERS,
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
        shown=shown_arguments(
            "What was run" if ran == call.arguments else "What was run, as the approver changed it",
            ran,
            call.approved_digest,
            call.presentation.highlight,
        ),
        decision_facts=_decision_facts(call, now),
        facts_shown=_request_facts(call, now),
        identity=_identity_facts(call),
        token=token,
        action=action,
        digest=call.approved_digest,
        max_reason=MAX_REASON_CHARACTERS,
    )


def outcome_page(call: PendingToolCall, *, now: datetime, heading: str | None = None, look: Look | None = None) -> str:
    """Return the page that tells what became of a call, with what was shown and what ran.

    Args:
        call: any call that is not open to a decision any more.
        now: tells whether a pending call is overdue; distances in time; its time zone is the reader's.
        heading: replaces the title that the status has, e.g. "Already decided".
        look: how the page goes on, where what it tells is not the last word.
    """
    told = ending(call, now)
    decision = call.decision
    edited = decision is not None and decision.arguments is not None
    first = call.presentation.highlight
    shown = [shown_arguments("What was shown" if edited else "Arguments", call.arguments, call.digest, first)]
    if edited:
        verb = "What ran" if call.execution else "What may run"
        heading_edited = f"{verb}, as the approver changed it"
        shown.append(shown_arguments(heading_edited, call.approved_arguments, call.approved_digest, first))
    return _render(
        "outcome.html",
        title=f"{heading or told.title}: {flat(visible(call.name))}",
        heading=visible(heading or told.title),
        tool=visible(call.name),
        agent=visible(call.agent),
        ending=told,
        words=sentences(call, now),
        look=look,
        asked="asked" if call.question else "asked to run",
        answer=_answer(decision.answer) if decision and decision.answer is not None else None,
        text=visible(call.outcome) if call.outcome else None,
        reason=visible(decision.reason) if decision and decision.reason else None,
        note=visible(call.resolution.reason) if call.resolution and call.resolution.reason else None,
        shown=shown,
        decision_facts=_decision_facts(call, now),
        facts_shown=_request_facts(call, now),
        identity=_identity_facts(call),
    )


def problem_page(title: str, text: str) -> str:
    """Return a page for what cannot be shown or done: 400, 404, 410 and the like."""
    return _render("problem.html", title=title, heading=visible(title), text=visible(text))


def shown_arguments(
    heading: str, arguments: str, digest: str, highlight: Collection[str] = (), *, asks_word: bool = False
) -> _Shown:
    """Return canonical arguments for the template's `arguments`.

    Args:
        digest: of the call with these arguments.
        highlight: the names of the arguments to show first.
        asks_word: the page has a form that approves them: show the word that it asks for where they are long.
    """
    read = read_arguments(arguments, highlight)
    word = word_of(digest) if asks_word and read.large else ""
    return _Shown(heading, read, ascii_escaped(arguments), digest, word)


def _answer(text: str) -> _Answer:
    answer = parse_json(text)
    return _Answer(kind_of(answer), shown_value(answer))


def _request_facts(call: PendingToolCall, now: datetime) -> list[_Fact]:
    facts = [
        _Fact("Agent", visible(call.agent)),
        _Fact("Asked by", visible(call.requested_by)),
        _time_fact("Asked at", call.requested_at, now, relative(call.requested_at, now)),
    ]
    if call.status is CallStatus.IN_DOUBT:  # there is no hurry any more
        return [*facts, _Fact("Code", visible(short_code(call.approved_digest)), "of exactly what was run")]
    left = relative(call.expires_at, now) if call.status is CallStatus.PENDING else ""
    return [
        *facts,
        _time_fact("Decide before", call.expires_at, now, left),
        _Fact("Code", visible(short_code(call.digest)), "of exactly these arguments"),
    ]


def _identity_facts(call: PendingToolCall) -> list[_Fact]:
    return [_Fact("Session", visible(call.session_id)), _Fact("Call", visible(call.call_id))]


def _decision_facts(call: PendingToolCall, now: datetime) -> list[_Fact]:
    facts = []
    if decision := call.decision:
        facts += [
            _Fact("Decision", visible(decision.verdict)),
            _who_fact("Decided by", decision.by, decision.verified),
            _time_fact("Decided at", decision.at, now, relative(decision.at, now)),
            _Fact("Code shown", visible(short_code(decision.digest_shown))),
        ]
    if call.execution and (decision or call.resolution):
        facts.append(_Fact("Code run", visible(short_code(call.execution.digest))))
        facts.append(_time_fact("Started at", call.execution.started_at, now))
        if call.execution.ended_at:
            facts.append(_time_fact("Ended at", call.execution.ended_at, now))
    if resolution := call.resolution:
        facts.append(_who_fact("In doubt, said by", resolution.by, resolution.verified))
        facts.append(_time_fact("Said at", resolution.at, now, relative(resolution.at, now)))
    return facts


def _who_fact(label: str, who: str, verified: str) -> _Fact:
    badge, how = IDENTITY[verified]
    return _Fact(label, visible(who), how, badge)


def _time_fact(label: str, moment: datetime, now: datetime, distance: str = "") -> _Fact:
    there = local(moment, now)
    return _Fact(label, visible(absolute(moment)), " · ".join(part for part in (there, distance) if part))


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
