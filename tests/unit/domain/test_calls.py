"""A call's states: every edge there is, and no other."""

from __future__ import annotations

from datetime import timedelta
from itertools import product

import pytest

from pausepoint.domain.calls import (
    EDGES,
    WAITING,
    CallStatus,
    Decision,
    claimed,
    closed,
    decided,
    due_at,
    finished,
    model_told,
    origins,
)
from pausepoint.errors import AlreadyDecided, CallExpired, LostRace
from tests.support.clock import START
from tests.support.sessions import DIGEST, decision, execution, question, record

S = CallStatus
# As design.md section 2 draws them, written down a second time on purpose.
DRAWN = {
    (S.PENDING, S.APPROVED),
    (S.PENDING, S.REJECTED),
    (S.PENDING, S.ANSWERED),
    (S.PENDING, S.EXPIRED),
    (S.PENDING, S.CANCELLED),
    (S.PENDING, S.STALE),
    (S.APPROVED, S.EXECUTING),
    (S.APPROVED, S.CANCELLED),
    (S.APPROVED, S.STALE),
    (S.EXECUTING, S.SUCCEEDED),
    (S.EXECUTING, S.FAILED),
    (S.EXECUTING, S.IN_DOUBT),
    (S.IN_DOUBT, S.SUCCEEDED),
    (S.IN_DOUBT, S.FAILED),
}
FINAL = {S.REJECTED, S.ANSWERED, S.EXPIRED, S.CANCELLED, S.STALE, S.SUCCEEDED, S.FAILED}


def allowed(change: object, *errors: type[Exception]) -> bool:
    try:
        change()  # type: ignore[operator]
    except errors:
        return False
    return True


@pytest.mark.parametrize(("origin", "target"), list(product(S, S)))
def test_i4_the_table_of_edges_is_the_one_that_is_drawn(origin: CallStatus, target: CallStatus) -> None:
    assert (target in EDGES[origin]) == ((origin, target) in DRAWN)


def test_i4_final_states_have_no_way_out() -> None:
    assert {status for status in S if not EDGES[status]} == FINAL
    assert set(WAITING) == set(S) - FINAL


@pytest.mark.parametrize(("origin", "verdict"), list(product(S, ["approved", "rejected"])))
def test_i5_only_a_pending_call_can_be_decided(origin: CallStatus, verdict: str) -> None:
    call = record(status=origin)
    if origin is S.PENDING:
        assert decided(call, decision(verdict), token_hash="hash").status == verdict
    else:
        with pytest.raises(AlreadyDecided):
            decided(call, decision(verdict), token_hash="hash")


@pytest.mark.parametrize("origin", S)
def test_i5_only_a_pending_question_can_be_answered(origin: CallStatus) -> None:
    call = question(status=origin)
    if origin is S.PENDING:
        answered = decided(call, decision("answered", answer="false"), token_hash="hash")
        assert (answered.status, answered.decision) == (S.ANSWERED, decision("answered", answer="false"))
    else:
        with pytest.raises(AlreadyDecided):
            decided(call, decision("answered", answer="false"), token_hash="hash")


@pytest.mark.parametrize("verdict", ["approved", "rejected", "answered"])
def test_case_04_a_question_takes_an_answer_and_everything_else_permission(verdict: str) -> None:
    asks, wants = question(), record()
    refused = asks if verdict != "answered" else wants
    with pytest.raises(LostRace, match="a question was asked and permission given, or the reverse"):
        decided(refused, decision(verdict), token_hash="hash")
    assert decided(wants if refused is asks else asks, decision(verdict), token_hash="hash").status == verdict


@pytest.mark.parametrize("decision_on_it", [decision("answered"), decision("approved"), None])
def test_a_question_is_never_entered(decision_on_it: Decision | None) -> None:
    with pytest.raises(LostRace):
        claimed(question(status=S.ANSWERED, decision=decision_on_it), execution())


@pytest.mark.parametrize(("origin", "target"), list(product(S, [S.EXPIRED, S.CANCELLED, S.STALE])))
def test_i4_closing_follows_the_edges(origin: CallStatus, target: CallStatus) -> None:
    assert allowed(lambda: closed(record(status=origin), target), LostRace) == ((origin, target) in DRAWN)


@pytest.mark.parametrize(("origin", "target"), list(product(S, [S.SUCCEEDED, S.FAILED, S.IN_DOUBT])))
def test_i4_finishing_follows_the_edges(origin: CallStatus, target: CallStatus) -> None:
    call = record(status=origin, execution=execution())
    done = allowed(lambda: finished(call, "x1", target, outcome="", at=START), LostRace)
    assert done == ((origin, target) in DRAWN)


@pytest.mark.parametrize("origin", S)
def test_i1_only_an_approved_call_can_be_claimed(origin: CallStatus) -> None:
    call = record(status=origin, decision=decision())
    assert allowed(lambda: claimed(call, execution()), LostRace) == (origin is S.APPROVED)


@pytest.mark.parametrize(
    ("retry_safe", "minutes", "again"), [(True, 16, True), (True, 15, False), (True, 1, False), (False, 16, False)]
)
def test_i1_a_claimed_call_is_claimed_again_only_if_retry_safe_and_past_its_deadline(
    retry_safe: bool, minutes: int, again: bool
) -> None:
    call = record(status=S.EXECUTING, retry_safe=retry_safe, decision=decision(), execution=execution())
    later = execution(id="x2", started_at=START + timedelta(minutes=minutes))
    assert allowed(lambda: claimed(call, later), LostRace) == again


def test_i3_a_gated_call_is_not_claimed_without_an_approval() -> None:
    for missing in (None, decision("rejected")):
        with pytest.raises(LostRace, match="no approval"):
            claimed(record(status=S.APPROVED, decision=missing), execution())


def test_an_ungated_call_needs_no_decision() -> None:
    assert claimed(record(status=S.APPROVED, gated=False), execution()).status is S.EXECUTING


def test_i2_a_claim_is_for_the_bytes_that_were_approved() -> None:
    approved = record(status=S.APPROVED, decision=decision())
    with pytest.raises(LostRace):
        claimed(approved, execution(digest="other"))
    edited = record(status=S.APPROVED, decision=decision(digest_approved="edited", arguments="{}"))
    with pytest.raises(LostRace):
        claimed(edited, execution(digest=DIGEST))
    assert claimed(edited, execution(digest="edited")).attempts == 1


def test_r43_only_the_execution_that_holds_the_call_ends_it() -> None:
    call = record(status=S.EXECUTING, execution=execution())
    with pytest.raises(LostRace):
        finished(call, "x2", S.SUCCEEDED, outcome="", at=START)
    with pytest.raises(LostRace):
        finished(record(status=S.EXECUTING), "x1", S.SUCCEEDED, outcome="", at=START)


def test_the_late_result_of_an_execution_in_doubt_counts() -> None:
    late = START + timedelta(hours=1)
    done = finished(record(status=S.IN_DOUBT, execution=execution()), "x1", S.SUCCEEDED, outcome="ok", at=late)
    assert (done.status, done.outcome, done.told) == (S.SUCCEEDED, "ok", True)
    assert done.execution is not None
    assert done.execution.ended_at == late


def test_r03_expiry_is_checked_at_the_moment_of_the_decision() -> None:
    call = record()
    in_time = decision(at=call.expires_at - timedelta(microseconds=1))
    assert decided(call, in_time, token_hash="hash").status is S.APPROVED
    for late in (timedelta(0), timedelta(days=1)):
        with pytest.raises(CallExpired):
            decided(call, decision(at=call.expires_at + late), token_hash="hash")


def test_r20_a_decision_on_other_bytes_than_the_stored_ones_is_none() -> None:
    with pytest.raises(LostRace):
        decided(record(), decision(digest_shown="other"), token_hash="hash")


def test_case_54_a_decision_with_an_unknown_token_is_none() -> None:
    with pytest.raises(LostRace):
        decided(record(), decision(), token_hash="hash of another")


def test_a_signed_in_caller_needs_no_token() -> None:
    assert decided(record(), decision(verified="aws-signature"), token_hash=None).status is S.APPROVED


@pytest.mark.parametrize("status", S)
def test_an_end_can_be_written_from_the_states_with_an_edge_to_it(status: CallStatus) -> None:
    expected = {origin for origin in S if (origin, status) in DRAWN}
    # somebody else may have brought it there; telling the model is its end
    if status in {S.REJECTED, S.ANSWERED, S.EXPIRED, S.CANCELLED, S.SUCCEEDED, S.FAILED}:
        expected.add(status)
    assert origins(status) == expected


def test_i7_whatever_somebody_has_to_act_on_is_due_at_some_time() -> None:
    for status in S:
        call = record(status=status, execution=execution())
        to_do = status in WAITING or status in {S.REJECTED, S.ANSWERED, S.EXPIRED}
        assert (due_at(call) is not None) == to_do, status
        if not EDGES[status]:
            assert due_at(model_told(call, outcome="told")) is None, status


def test_case_24_a_call_whose_notice_was_not_sent_is_due_at_once() -> None:
    assert due_at(record(notify="due")) == START
    assert due_at(record(notify="sent")) == record().expires_at
