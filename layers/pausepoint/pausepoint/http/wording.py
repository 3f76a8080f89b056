"""What became of a call, in plain words; times as people read them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Literal

from pausepoint.domain.calls import CallStatus, PendingToolCall, Verdict
from pausepoint.http.visible import Segment, visible

Words = list[str | list[Segment]]
"""A sentence: our own words, and untrusted pieces between them."""

HOW_KNOWN: Final = {
    "link": "by holding the link; no sign-in",
    "aws-signature": "by an AWS-signed request",
    "caller": "by the caller's own word only",
    "reconcile": "by the tool's own check",
}
"""For each way of knowing who it was, in words; whether that is verified says `domain/identity.py`."""

RESOLVED: Final[Mapping[str, str]] = {
    "happened": "The process died while it ran. It did happen.",
    "did_not_happen": "The process died while it ran. It did not happen, and is not run again.",
    "run_again": "The process died while it ran. It is asked for again, as another call with a link of its own.",
}

_VERBS: Final[Mapping[Verdict, str]] = {
    "approved": "Approved by ",
    "rejected": "Rejected by ",
    "answered": "Answered by ",
}
_UNITS: Final = (("day", 86_400), ("hour", 3_600), ("minute", 60))


Tone = Literal["good", "bad", "still", "moving"]


@dataclass(frozen=True)
class Ending:
    """What a status means, in words.

    Attributes:
        tone: `still` means nothing ran and nothing will; `moving` is not the last word.
        sentence: follows the one on the decision; `{expires}`, `{started}`, `{ended}` are filled.
        text_label: what the call's outcome text is to be called.
    """

    title: str
    tone: Tone
    sentence: str
    text_label: str = "Note"
    moving: bool = False


_S = CallStatus
ENDINGS: Final[Mapping[CallStatus, Ending]] = {
    _S.PENDING: Ending("Not decided yet", "moving", "Nothing has run. It waits for a decision.", moving=True),
    _S.APPROVED: Ending("Approved", "moving", "It has not run yet.", moving=True),
    _S.REJECTED: Ending("Rejected", "still", "It did not run and will not."),
    _S.ANSWERED: Ending("Answered", "good", "The agent gets this answer, word for word.", "What the agent was told"),
    _S.EXPIRED: Ending("Expired, not run", "still", "Nobody decided before {expires}. It did not run and will not."),
    _S.CANCELLED: Ending("Cancelled, not run", "still", "The session was cancelled. It did not run and will not."),
    _S.STALE: Ending(
        "Out of date, not run",
        "still",
        "What was shown is not what would run; the note says why. "
        "It did not run and will not; the agent may ask again.",
    ),
    _S.EXECUTING: Ending("Running now", "moving", "It started{started} and is running now.", moving=True),
    _S.SUCCEEDED: Ending("Done", "good", "It ran and succeeded{ended}.", "What the tool gave back"),
    _S.FAILED: Ending(
        "Failed",
        "bad",
        "It ran and failed{ended}. What it did before it failed has not been undone.",
        "What went wrong",
    ),
    _S.IN_DOUBT: Ending(
        "In doubt",
        "bad",
        "It started{started}, and nobody heard how it ended: it may or may not have taken effect. "
        "It is not run again by itself; somebody has to look and say what happened.",
        "What is known",
        moving=True,
    ),
}
"""One line for every status; a test holds them against `CallStatus`."""

_OF_QUESTIONS: Final[Mapping[CallStatus, Ending]] = {
    _S.PENDING: Ending("Not answered yet", "moving", "It waits for an answer.", moving=True),
    _S.EXPIRED: Ending("Expired, not answered", "still", "Nobody answered before {expires}."),
    _S.CANCELLED: Ending("Cancelled, not answered", "still", "The session was cancelled."),
}


def ending(call: PendingToolCall, now: datetime) -> Ending:
    """Return what a call's status means. A pending one whose time is over has expired."""
    status = CallStatus.EXPIRED if call.status is CallStatus.PENDING and call.overdue(now) else call.status
    own = _OF_QUESTIONS if call.question is not None else ENDINGS
    return own.get(status, ENDINGS[status])


def sentences(call: PendingToolCall, now: datetime) -> Words:
    """Tell who decided, if somebody did, and what became of the call."""
    execution = call.execution
    told = ending(call, now).sentence.format(
        expires=when(call.expires_at, now),
        started=f" at {when(execution.started_at, now)}" if execution else "",
        ended=f" at {when(execution.ended_at, now)}" if execution and execution.ended_at else "",
    )
    decision = call.decision
    if call.resolution is not None:
        told = f"{RESOLVED[call.resolution.answer]} {told if call.status is CallStatus.IN_DOUBT else ''}".strip()
        return [told, " Said by ", visible(call.resolution.by), f" at {when(call.resolution.at, now)}."]
    if decision is None:
        return [told]
    if decision.verdict == "rejected" and not decision.reason:
        told += " No reason was given."
    return [_VERBS[decision.verdict], visible(decision.by), f" at {when(decision.at, now)}. {told}"]


def when(moment: datetime, now: datetime) -> str:
    """Return a moment in UTC, and in the reader's time zone where that is another: `now` is in it."""
    there = local(moment, now)
    return f"{absolute(moment)} ({there})" if there else absolute(moment)


def absolute(moment: datetime) -> str:
    """Return a moment as `2026-11-29 16:04 UTC`."""
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def local(moment: datetime, now: datetime) -> str:
    """Return a moment as `17:04 Europe/Berlin`, with its date where that is another; empty where it is UTC's."""
    zone = now.tzinfo
    if zone is None or str(zone) == "UTC":
        return ""
    there, utc = moment.astimezone(zone), moment.astimezone(UTC)
    return f"{there:%H:%M} {zone}" if there.date() == utc.date() else f"{there:%Y-%m-%d %H:%M} {zone}"


def relative(moment: datetime, now: datetime) -> str:
    """Return about how far away a moment is: `in 23 hours`, `5 minutes ago`; rounded down."""
    seconds = (moment - now).total_seconds()
    for unit, size in _UNITS:
        count = int(abs(seconds) // size)
        if count:
            span = f"{count} {unit}" if count == 1 else f"{count} {unit}s"
            return f"in {span}" if seconds > 0 else f"{span} ago"
    return "in less than a minute" if seconds > 0 else "just now"
