"""What pages are made of: facts, arguments as they are shown, and the templates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pausepoint.domain.calls import CallStatus
from pausepoint.domain.canonical import parse_json, short_code
from pausepoint.domain.identity import identity_of
from pausepoint.http.large import word_of
from pausepoint.http.rows import Arguments, read_arguments
from pausepoint.http.values import Value, kind_of, shown_value
from pausepoint.http.visible import Segment, ascii_escaped, visible
from pausepoint.http.wording import HOW_KNOWN, absolute, local, relative

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

    from pausepoint.domain.calls import PendingToolCall


@dataclass(frozen=True)
class Fact:
    """A line of a list of facts; `aside` says more about the value, `badge` marks it."""

    label: str
    value: list[Segment]
    aside: str = ""
    badge: str = ""


@dataclass(frozen=True)
class Shown:
    """One text of a call: its arguments, their ASCII form and their digest; `word` is asked for where they are long."""

    heading: str
    arguments: Arguments
    exact: str
    digest: str
    word: str = ""


@dataclass(frozen=True)
class ShownAnswer:
    """What a person answered."""

    kind: str
    value: Value


def shown_arguments(
    heading: str, arguments: str, digest: str, highlight: Collection[str] = (), *, asks_word: bool = False
) -> Shown:
    """Return canonical arguments for the template's `arguments`.

    Args:
        digest: of the call with these arguments.
        highlight: the names of the arguments to show first.
        asks_word: the page has a form that approves them: show the word that it asks for where they are long.
    """
    read = read_arguments(arguments, highlight)
    word = word_of(digest) if asks_word and read.large else ""
    return Shown(heading, read, ascii_escaped(arguments), digest, word)


def shown_answer(text: str) -> ShownAnswer:
    """Return an answer, given as canonical JSON, for the template."""
    answer = parse_json(text)
    return ShownAnswer(kind_of(answer), shown_value(answer))


def request_facts(call: PendingToolCall, now: datetime) -> list[Fact]:
    """Say who asked, when, until when it may be decided, and the code of what is shown."""
    facts = [
        Fact("Agent", visible(call.agent)),
        Fact("Asked by", visible(call.requested_by)),
        _time_fact("Asked at", call.requested_at, now, relative(call.requested_at, now)),
    ]
    if call.status is CallStatus.IN_DOUBT:  # there is no hurry any more
        return [*facts, Fact("Code", visible(short_code(call.approved_digest)), "of exactly what was run")]
    left = relative(call.expires_at, now) if call.status is CallStatus.PENDING else ""
    return [
        *facts,
        _time_fact("Decide before", call.expires_at, now, left),
        Fact("Code", visible(short_code(call.digest)), "of exactly these arguments"),
    ]


def identity_facts(call: PendingToolCall) -> list[Fact]:
    """Say which call of which session this is."""
    return [Fact("Session", visible(call.session_id)), Fact("Call", visible(call.call_id))]


def decision_facts(call: PendingToolCall, now: datetime) -> list[Fact]:
    """Say who decided what and when, what ran, and what was said of it in doubt; nothing where nobody did."""
    facts = []
    if decision := call.decision:
        facts += [
            Fact("Decision", visible(decision.verdict)),
            _who_fact("Decided by", decision.by, decision.verified),
            _time_fact("Decided at", decision.at, now, relative(decision.at, now)),
            Fact("Code shown", visible(short_code(decision.digest_shown))),
        ]
    if call.execution and (decision or call.resolution):
        facts.append(Fact("Code run", visible(short_code(call.execution.digest))))
        facts.append(_time_fact("Started at", call.execution.started_at, now))
        if call.execution.ended_at:
            facts.append(_time_fact("Ended at", call.execution.ended_at, now))
    if resolution := call.resolution:
        facts.append(_who_fact("In doubt, said by", resolution.by, resolution.verified))
        facts.append(_time_fact("Said at", resolution.at, now, relative(resolution.at, now)))
    return facts


def _who_fact(label: str, who: str, verified: str) -> Fact:
    badge, how = identity_of(verified) or "", HOW_KNOWN[verified]
    return Fact(label, visible(who), how, badge)


def _time_fact(label: str, moment: datetime, now: datetime, distance: str = "") -> Fact:
    there = local(moment, now)
    return Fact(label, visible(absolute(moment)), " · ".join(part for part in (there, distance) if part))
