"""The invariants of the protocol, as functions over what a schedule left behind. Every tier uses them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from pausepoint.domain.calls import Decision
from pausepoint.domain.events import DecisionRecorded, DoubtResolved, ExecutionRecorded
from pausepoint.runtime.notices import DOUBT_SUBJECT
from tests.faults.evidence import CallKey, Entry, Evidence, Sent, Told
from tests.faults.soundness import (
    decisions,
    gaps,
    head_unsound,
    leads,
    records_unsound,
    results_unsound,
    standing_words,
    text_of,
    unapproved,
    unrested,
    unsound,
)

__all__ = ["INVARIANTS", "CallKey", "Entry", "Evidence", "Sent", "Told", "violations"]


def violations(evidence: Evidence) -> list[str]:
    """Return what does not hold, each with the name of its invariant; nothing when all is well."""
    return [f"{name}: {what}" for name, check in INVARIANTS.items() for what in check(evidence)]


def i1_entered_once(evidence: Evidence) -> Iterator[str]:
    """A gated tool is entered at most once per call; one external effect per idempotency key."""
    entered = Counter((entry.session_id, entry.call_id) for entry in evidence.entries if not entry.retry_safe)
    yield from (f"call {call} was entered {count} times" for call, count in entered.items() if count > 1)
    yield from (f"{count} effects under key {key}" for key, count in evidence.effects.items() if count > 1)
    keys: dict[str, CallKey] = {}
    for entry in evidence.entries:
        call = (entry.session_id, entry.call_id)
        if keys.setdefault(entry.idempotency_key, call) != call:
            yield f"calls {keys[entry.idempotency_key]} and {call} share the key {entry.idempotency_key}"


def i2_same_bytes(evidence: Evidence) -> Iterator[str]:
    """The digest of the bytes passed is the decision's, and that of the page that was posted."""
    for entry in evidence.entries:
        record = evidence.record_of(entry)
        if record is None:
            continue
        if entry.digest != record.approved_digest:
            yield f"{entry.call_id} ran {entry.digest[:8]}, approved was {record.approved_digest[:8]}"
        shown = evidence.pages.get((entry.session_id, entry.call_id), ())
        decision = record.decision
        if shown and decision and decision.verified == "link" and decision.digest_shown not in shown:
            yield f"{entry.call_id} was decided as {decision.digest_shown[:8]}, which no page showed"


def i3_approved_before(evidence: Evidence) -> Iterator[str]:
    """An entry is preceded by exactly one approval, made before expiry; none after any other end."""
    for entry in evidence.entries:
        record = evidence.record_of(entry)
        if record is not None:
            yield from (f"{entry.call_id} {what}" for what in unapproved(record, entry, evidence.skew))
        elif entry.gated:
            yield f"{entry.call_id} is gated, was entered, and has no record"
    for session in evidence.sessions:
        for event in session.events:
            call = session.calls.get(event.call_id) if isinstance(event, ExecutionRecorded) else None
            if call is None or not call.gated:
                continue
            approvals = [said for said in decisions(session, call.call_id) if said.verdict == "approved"]
            if len(approvals) != 1:
                yield f"the log holds {len(approvals)} approvals of {call.call_id}, which was executed"


def i4_edges(evidence: Evidence) -> Iterator[str]:
    """Terminal states absorb; every change of state is an edge of the design's table."""
    last: dict[CallKey, str] = {}
    for call in evidence.history:
        key, status = (call.session_id, call.call_id), call.status.value
        before = last.get(key)
        last[key] = status
        if before is None:
            if evidence.from_beginning and status != ("pending" if call.gated else "approved"):
                yield f"{call.call_id} began as {status}"
        elif before != status and not leads(before, status, direct=evidence.every_write):
            yield f"{call.call_id} went from {before} to {status}"
    ended: set[str] = set()
    for session_id, status in evidence.statuses:
        if session_id in ended and status != "cancelled":
            yield f"session {session_id} went from cancelled to {status}"
        if status == "cancelled":
            ended.add(session_id)
    for call in evidence.calls():
        yield from (f"{call.call_id} {what}" for what in unsound(call))


def i5_one_decision(evidence: Evidence) -> Iterator[str]:
    """At most one decision per call; later posts see that one. The same for the answer to a doubt."""
    standing: dict[CallKey, Decision] = {}
    for call in evidence.history:
        if call.decision is not None:
            first = standing.setdefault((call.session_id, call.call_id), call.decision)
            if first != call.decision:
                yield f"the decision on {call.call_id} changed from {first.verdict} to {call.decision.verdict}"
    records = {(call.session_id, call.call_id): call for call in evidence.calls()}
    for key, first in standing.items():
        if (call_now := records.get(key)) is not None and call_now.decision != first:
            yield f"the decision on {key[1]} is not the first one any more"
    for session in evidence.sessions:
        for name, kind in (("decisions on", DecisionRecorded), ("answers about", DoubtResolved)):
            logged = Counter(event.call_id for event in session.events if isinstance(event, kind))
            yield from (f"{count} {name} {call_id} in the log" for call_id, count in logged.items() if count > 1)
    for told in evidence.told:
        call_told = records.get((told.session_id, told.call_id))
        stands = standing_words(call_told) if call_told else set()
        if call_told is not None and told.standing not in stands:
            yield f"somebody was told that {told.call_id} is {told.standing}; what stands is {sorted(stands)}"


def i6_log_folds(evidence: Evidence) -> Iterator[str]:
    """The log's numbers are contiguous, a call has at most one result, and folding the log gives the heads."""
    yield from gaps(evidence.rows)
    for session in evidence.sessions:
        yield from results_unsound(session)
        yield from head_unsound(session)
        yield from records_unsound(session)


def i7_comes_to_rest(evidence: Evidence) -> Iterator[str]:
    """Nothing stays approved, executing or overdue; with lost answers alone nothing ends in doubt."""
    if evidence.lost_answers_only:
        for call in evidence.calls():
            if call.status.value == "in_doubt" or call.resolution is not None:
                yield f"{call.call_id} is in doubt, though nothing crashed"
        for session in evidence.sessions:
            if session.failure is not None and session.failure.code == "stalled":
                yield f"session {session.head.session_id} got no further, though nothing crashed"
    if not evidence.quiescent:
        return
    for session in evidence.sessions:
        yield from unrested(session)
    for call in evidence.calls():
        if call.status.value == "pending" and evidence.now is not None and call.expires_at < evidence.now:
            yield f"{call.call_id} is overdue and still pending"


def i8_reads_write_nothing(evidence: Evidence) -> Iterator[str]:
    """GET, HEAD, OPTIONS and wrong tokens leave the table byte-equal."""
    yield from (f"{what} changed the table" for what, before, after in evidence.untouched if before != after)


def i9_secrets_stay(evidence: Evidence) -> Iterator[str]:
    """Secrets are never in the table, a log, a path or a queue message."""
    if not evidence.secrets:
        return
    places = {place: "\n".join(texts) for place, texts in evidence.texts.items()}
    places["table"] = "\n".join(repr(dict(row)) for row in evidence.rows)
    places["sessions"] = "\n".join(text_of(session) for session in evidence.sessions)
    for place, text in places.items():
        yield from (f"a secret ({secret[:4]}…) is in {place}" for secret in evidence.secrets if secret in text)


def i10_model_budget(evidence: Evidence) -> Iterator[str]:
    """Model calls are at most the budget and one more per crash."""
    budget = evidence.budget
    if budget is None:
        budget = sum(session.head.limits.model_calls for session in evidence.sessions)
    if evidence.model_calls > budget + evidence.crashes:
        yield f"the model was asked {evidence.model_calls} times; budget {budget}, crashes {evidence.crashes}"


def i11_everyone_is_asked(evidence: Evidence) -> Iterator[str]:
    """Every call that waits for a person has at least one message sent in the end."""
    if not evidence.quiescent:
        return
    asked = Counter((sent.session_id, sent.call_id) for sent in evidence.notices)
    doubts = {(sent.session_id, sent.call_id) for sent in evidence.notices if sent.subject in ("", DOUBT_SUBJECT)}
    for call in evidence.calls():
        key = (call.session_id, call.call_id)
        if call.status.value == "pending" and not asked[key]:
            yield f"nobody was told of {call.call_id}, which is pending"
        if call.status.value == "in_doubt" and call.reconciled and key not in doubts:
            yield f"nobody was told of {call.call_id}, which is in doubt"


INVARIANTS: Final[Mapping[str, Callable[[Evidence], Iterator[str]]]] = {
    "I1": i1_entered_once,
    "I2": i2_same_bytes,
    "I3": i3_approved_before,
    "I4": i4_edges,
    "I5": i5_one_decision,
    "I6": i6_log_folds,
    "I7": i7_comes_to_rest,
    "I8": i8_reads_write_nothing,
    "I9": i9_secrets_stay,
    "I10": i10_model_budget,
    "I11": i11_everyone_is_asked,
}
