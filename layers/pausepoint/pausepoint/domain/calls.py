"""A tool call that needs a record of its own: its states, the edges between them, and the decision on it.

This is the one place that says which change of state is possible. The stores' conditions repeat it in
their own language, and the contract tests hold the two against each other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final, Literal

from pausepoint.domain.documents import Document
from pausepoint.errors import AlreadyDecided, CallExpired, LostRace


class CallStatus(StrEnum):
    """Where a call stands."""

    PENDING = "pending"
    APPROVED = "approved"
    ANSWERED = "answered"
    REJECTED = "rejected"
    EXPIRED = "expired"
    CANCELLED = "cancelled"
    STALE = "stale"
    EXECUTING = "executing"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    IN_DOUBT = "in_doubt"


_S = CallStatus
EDGES: Final[Mapping[CallStatus, frozenset[CallStatus]]] = {
    _S.PENDING: frozenset({_S.APPROVED, _S.REJECTED, _S.ANSWERED, _S.EXPIRED, _S.CANCELLED, _S.STALE}),
    _S.APPROVED: frozenset({_S.EXECUTING, _S.CANCELLED, _S.STALE}),
    _S.EXECUTING: frozenset({_S.SUCCEEDED, _S.FAILED, _S.IN_DOUBT}),
    _S.IN_DOUBT: frozenset({_S.SUCCEEDED, _S.FAILED}),
    _S.REJECTED: frozenset(),
    _S.ANSWERED: frozenset(),
    _S.EXPIRED: frozenset(),
    _S.CANCELLED: frozenset(),
    _S.STALE: frozenset(),
    _S.SUCCEEDED: frozenset(),
    _S.FAILED: frozenset(),
}
"""Every possible change of state. A state without edges is final."""

WAITING: Final = frozenset({_S.PENDING, _S.APPROVED, _S.EXECUTING, _S.IN_DOUBT})
"""The states in which somebody or something still has to act."""

ASKING: Final = frozenset({_S.PENDING, _S.IN_DOUBT})
"""The states in which a person is asked."""

Verdict = Literal["approved", "rejected", "answered"]
"""A person's word on a call that asks for permission, or that they answered one that asks a question."""
Risk = Literal["low", "medium", "high"]
Answer = Literal["happened", "did_not_happen", "run_again"]
"""What a person, or the tool's own `reconcile`, says about a call that is in doubt."""

MAX_LINKS: Final = 20
"""So many links open one call at most."""


class Decision(Document):
    """One person's word on one call.

    Attributes:
        verified: how `by` was established: `link` (whoever had the mailed link) or `aws-signature`.
        digest_shown: the digest the person was shown, and which the write required.
        digest_approved: the digest of what may run: the one shown, or of the arguments the person put instead.
        arguments: the canonical arguments to run instead, where the person edited them.
        answer: what the person answered to a question, as canonical JSON.
    """

    verdict: Verdict
    by: str
    at: datetime
    verified: Literal["link", "aws-signature", "caller"]
    reason: str = ""
    digest_shown: str
    digest_approved: str
    arguments: str | None = None
    answer: str | None = None


class Presentation(Document):
    """What the tool's author wants a person to see of a call beside its arguments. It decides nothing.

    Attributes:
        warning: the tool's own words on what is at stake.
        highlight: the names of the arguments to show first.
        model_text: what the model wrote along with the turn, cut at its first 2,000 characters. Nobody has checked it.
    """

    risk: Risk = "medium"
    warning: str = ""
    highlight: tuple[str, ...] = ()
    model_text: str = ""


class Question(Document):
    """What a call asks a person, where it does not ask for permission.

    Attributes:
        text: the question; empty where the arguments say it all.
        choices: what may be answered; empty: anything.
    """

    text: str = ""
    choices: tuple[str, ...] = ()


class Resolution(Document):
    """What became of a call that was in doubt, on somebody's word."""

    answer: Answer
    by: str
    at: datetime
    verified: Literal["link", "aws-signature", "caller", "reconcile"]
    reason: str = ""


class Execution(Document):
    """One entry into a tool's body.

    Attributes:
        digest: of the bytes that were passed, computed again at the moment of passing them.
        deadline: past it, nobody will hear from this execution any more.
    """

    id: str
    digest: str
    started_at: datetime
    deadline: datetime
    ended_at: datetime | None = None


class PendingToolCall(Document):
    """A call that waits for, or went through, a decision or a guarded execution.

    Attributes:
        gated: a person has to agree; otherwise the record only guards against running it twice.
        question: the call asks a person something: the answer is its result, and no tool is entered.
        token_hashes: SHA-256 of the secrets in the links that were sent.
        asked: the arguments that the model had asked for, where this call takes the place of one that the
            approver had changed.
        execution: the latest entry into the tool's body.
        outcome: the beginning of what the model was told.
        told: the log holds the call's result, or the call that took its place.
        resolution: what was said when the call was in doubt.
        reconciled: the tool's own `reconcile` was asked, or there is none.
        code_tries: how many one-time codes were tried with the links that are valid now.
        spent_hashes: SHA-256 of the secrets in links that are used up: too many codes were tried with them.
        spent_rounds: how often that has happened.
        sweeps: how often the sweeper has come by since the call last moved.
    """

    session_id: str
    call_id: str
    tool_call_id: str
    name: str
    arguments: str
    asked: str | None = None
    digest: str
    schema_hash: str
    gated: bool
    retry_safe: bool
    question: Question | None = None
    presentation: Presentation = Presentation()
    status: CallStatus
    agent: str
    requested_by: str
    requested_at: datetime
    expires_at: datetime
    token_hashes: tuple[str, ...] = ()
    notify: Literal["due", "sent", "none"] = "none"
    decision: Decision | None = None
    execution: Execution | None = None
    attempts: int = 0
    outcome: str = ""
    told: bool = False
    resolution: Resolution | None = None
    reconciled: bool = False
    reminded: bool = False
    code_tries: int = 0
    spent_hashes: tuple[str, ...] = ()
    spent_rounds: int = 0
    sweeps: int = 0

    @property
    def approved_arguments(self) -> str:
        """The canonical arguments that may run: the edited ones where the approver edited them."""
        if self.decision is not None and self.decision.arguments is not None:
            return self.decision.arguments
        return self.arguments

    @property
    def approved_digest(self) -> str:
        """The digest of what may run."""
        return self.decision.digest_approved if self.decision is not None else self.digest

    def overdue(self, now: datetime) -> bool:
        """Whether the time to decide is over."""
        return now >= self.expires_at


_IN_DOUBT_FOR: Final = timedelta(days=365)
_TOLD_LATER: Final = frozenset({_S.REJECTED, _S.ANSWERED, _S.EXPIRED, _S.CANCELLED, _S.SUCCEEDED, _S.FAILED})
"""The ends that a person, the clock or the sweeper brings about: a runner tells the model of them afterwards."""


def due_at(call: PendingToolCall) -> datetime | None:
    """Return when somebody should look after the call if nothing happens by itself; None when it is final."""
    match call.status:
        case _S.PENDING:
            return call.expires_at if call.notify == "sent" else call.requested_at
        case _S.APPROVED | _S.REJECTED | _S.ANSWERED if not call.told:
            return call.decision.at if call.decision else call.requested_at
        case _S.EXPIRED if not call.told:
            return call.expires_at
        case _S.IN_DOUBT if call.notify == "sent":
            return call.requested_at + _IN_DOUBT_FOR  # nobody is late; it stays in the list of what waits
        case _S.EXECUTING | _S.IN_DOUBT:
            return call.execution.deadline if call.execution else call.requested_at
        case _S.SUCCEEDED | _S.FAILED if not call.told and call.resolution is not None:
            return call.resolution.at
        case _:
            return None


def decided(call: PendingToolCall, decision: Decision, *, token_hash: str | None) -> PendingToolCall:
    """Return the call with the decision on it.

    Raises:
        AlreadyDecided: it is not pending any more (also when the verdict would be the same).
        CallExpired: the time is over.
        LostRace: the digest shown is not the stored one, the token is not among the known, or permission
            was given where a question was asked (or the reverse).
    """
    if call.status is not _S.PENDING:
        raise AlreadyDecided(call)
    if call.overdue(decision.at):
        raise CallExpired(f"The time to decide ended at {call.expires_at:%Y-%m-%d %H:%M} UTC.")
    if (call.question is not None) != (decision.verdict == "answered"):
        raise LostRace("a question was asked and permission given, or the reverse")
    if decision.digest_shown != call.digest or (token_hash is not None and token_hash not in call.token_hashes):
        raise LostRace("what was shown is not what is stored")
    return _moved(call, CallStatus(decision.verdict), decision=decision)


def claimed(call: PendingToolCall, execution: Execution) -> PendingToolCall:
    """Return the call as executing under `execution`.

    Raises:
        LostRace: it is not approved (and not a retry-safe one whose execution ran out of time), a gated
            call has no decision, or the digest is not the approved one.
    """
    again = (
        call.status is _S.EXECUTING
        and call.retry_safe
        and call.execution is not None
        and call.execution.deadline < execution.started_at
    )
    if not (call.status is _S.APPROVED or again):
        raise LostRace(f"call {call.call_id} is {call.status}")
    if call.gated and (call.decision is None or call.decision.verdict != "approved"):
        raise LostRace(f"call {call.call_id} has no approval")
    if execution.digest != call.approved_digest:
        raise LostRace(f"call {call.call_id} would run something else than was approved")
    return replace(call, status=_S.EXECUTING, execution=execution, attempts=call.attempts + 1)


def finished(
    call: PendingToolCall, execution_id: str, status: CallStatus, *, outcome: str, at: datetime
) -> PendingToolCall:
    """Return the call after its tool came back; only the execution that holds it may say so.

    Raises:
        LostRace: another execution holds the call, or it is final.
    """
    if call.execution is None or call.execution.id != execution_id:
        raise LostRace(f"call {call.call_id} is not held by this execution")
    ended = replace(call.execution, ended_at=at)
    return _moved(call, status, execution=ended, outcome=outcome, told=True)


def closed(call: PendingToolCall, status: CallStatus, *, outcome: str = "") -> PendingToolCall:
    """Return the call as expired, cancelled or stale.

    Raises:
        LostRace: there is no such edge from where it stands.
    """
    return _moved(call, status, outcome=outcome, told=bool(outcome))


def expired(call: PendingToolCall, *, now: datetime) -> PendingToolCall:
    """Return a pending call whose time is over as expired. Raises LostRace for any other."""
    if not call.overdue(now):
        raise LostRace(f"call {call.call_id} may still be decided")
    return _moved(call, _S.EXPIRED)


def doubted(call: PendingToolCall, *, now: datetime) -> PendingToolCall:
    """Return a call whose execution was cut off, and which may not simply run again, as in doubt.

    Raises:
        LostRace: it is not executing, its time is not over, or it is retry-safe.
    """
    if call.execution is None or call.execution.deadline >= now or call.retry_safe:
        raise LostRace(f"call {call.call_id} is not in doubt")
    return _moved(call, _S.IN_DOUBT, notify="none")


def linked(call: PendingToolCall, status: CallStatus, token_hash: str, *, reconciled: bool) -> PendingToolCall:
    """Return a call that asks a person with one more link to it.

    When it has as many as it may have, the latest gives way: however often telling failed, there is a next try.

    Raises:
        LostRace: it does not stand where it stood, or asks nobody.
    """
    if call.status is not status or status not in ASKING:
        raise LostRace(f"call {call.call_id} is {call.status}")
    hashes = (*call.token_hashes[: MAX_LINKS - 1], token_hash)
    due = "due" if call.notify == "none" else call.notify
    return replace(call, token_hashes=hashes, notify=due, reconciled=reconciled)


def resolved(call: PendingToolCall, resolution: Resolution, *, token_hash: str | None) -> PendingToolCall:
    """Return a call in doubt after somebody said what became of it.

    Raises:
        AlreadyDecided: it is not in doubt (any more).
        LostRace: the token is not among the known.
    """
    if call.status is not _S.IN_DOUBT:
        raise AlreadyDecided(call)
    if token_hash is not None and token_hash not in call.token_hashes:
        raise LostRace("the token opens nothing")
    status = _S.SUCCEEDED if resolution.answer == "happened" else _S.FAILED
    return _moved(call, status, resolution=resolution)


def model_told(call: PendingToolCall, *, outcome: str) -> PendingToolCall:
    """Return a call at its end after the model was told so."""
    return replace(call, outcome=outcome, told=True)


def origins(status: CallStatus) -> frozenset[CallStatus]:
    """Return the states from which a call can come to its end in `status`, that state's own answering included."""
    origins = frozenset(origin for origin, targets in EDGES.items() if status in targets)
    return origins | {status} if status in _TOLD_LATER else origins


def can_end(stored: PendingToolCall, end: PendingToolCall) -> bool:
    """Whether a stored call may come to this end: along an edge, or, standing there already, by being answered once.

    Answering repeats what was said of a call in doubt: after somebody's word its execution reports in vain.
    """
    if stored.status is not end.status:
        return stored.status in origins(end.status)
    return stored.status in origins(end.status) and not stored.told and stored.resolution == end.resolution


def _moved(call: PendingToolCall, status: CallStatus, **changes: Any) -> PendingToolCall:
    if status not in EDGES[call.status]:
        raise LostRace(f"call {call.call_id} cannot go from {call.status} to {status}")
    return replace(call, status=status, **changes)
