"""Claiming a call before its tool is entered, and recording what came of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pausepoint.domain.calls import CallStatus, PendingToolCall, claimed, closed, model_told
from pausepoint.errors import LostRace, NotFound
from pausepoint.runtime.ports import SessionStore
from tests.contract.conftest import Place
from tests.support.stored import (
    MINE,
    RUNNING,
    a_call,
    a_decision,
    a_lease,
    a_result,
    a_session,
    an_execution,
    an_ungated_call,
    appending,
    brought,
    closing,
    ended,
    moment,
    paused,
    pausing,
    said,
    settling,
    that_can_be,
)

ENDS = [CallStatus.SUCCEEDED, CallStatus.FAILED, CallStatus.IN_DOUBT]


def test_i3_an_approved_call_is_claimed_once(place: Place) -> None:
    call = a_call()
    paused(place.store, call)
    approved = brought(place.store, call, CallStatus.APPROVED)

    executing = place.store.claim("s1", "c2-0", an_execution(approved))

    assert executing == claimed(approved, an_execution(approved)) == place.store.call("s1", "c2-0")
    assert (executing.status, executing.attempts) == (CallStatus.EXECUTING, 1)
    before = place.everything()
    for at in (20, 50.000001, 5000):  # not retry-safe: never again, not even past the deadline
        with pytest.raises(LostRace):
            place.store.claim("s1", "c2-0", an_execution(approved, "run-2", at=at, deadline=at + 10))
    assert place.everything() == before


def test_i1_a_gated_call_is_never_claimed_without_a_decision(place: Place) -> None:
    # Approved by nobody: what an altered row, or an error of ours, would look like.
    call = a_call(status=CallStatus.APPROVED)
    paused(place.store, call)
    before = place.everything()

    with pytest.raises(LostRace):
        place.store.claim("s1", "c2-0", an_execution(call))

    assert place.everything() == before


def test_i2_only_what_was_approved_is_claimed(place: Place) -> None:
    call = a_call()
    paused(place.store, call)
    approved = brought(place.store, call, CallStatus.APPROVED)
    before = place.everything()

    for digest in ("0" * 64, "", approved.digest.upper()):
        with pytest.raises(LostRace):
            place.store.claim("s1", "c2-0", an_execution(approved, digest=digest))

    assert place.everything() == before


def test_a_call_that_nobody_had_to_approve_is_claimed_as_recorded(place: Place) -> None:
    call = an_ungated_call()
    paused(place.store, call)

    with pytest.raises(LostRace):
        place.store.claim("s1", "c2-0", an_execution(call, digest="0" * 64))
    assert place.store.claim("s1", "c2-0", an_execution(call)) == claimed(call, an_execution(call))
    with pytest.raises(LostRace):
        place.store.claim("s1", "c2-0", an_execution(call, "run-2", at=5000, deadline=5010))


@pytest.mark.parametrize("call", [a_call(retry_safe=True), an_ungated_call(retry_safe=True)], ids=["gated", "ungated"])
def test_a_retry_safe_call_is_claimed_again_once_its_deadline_has_passed(place: Place, call: PendingToolCall) -> None:
    store = place.store
    paused(store, call)
    if call.gated:
        call = brought(store, call, CallStatus.APPROVED)
    store.claim("s1", "c2-0", an_execution(call))
    before = place.everything()
    for at in (21, 50):
        with pytest.raises(LostRace):
            store.claim("s1", "c2-0", an_execution(call, "run-2", at=at, deadline=90))
    assert place.everything() == before

    again = store.claim("s1", "c2-0", an_execution(call, "run-2", at=50.000001, deadline=90))

    assert again == store.call("s1", "c2-0")
    assert (again.attempts, again.execution) == (2, an_execution(call, "run-2", at=50.000001, deadline=90))
    before = place.everything()
    with pytest.raises(LostRace):  # the same bytes, or nothing
        store.claim("s1", "c2-0", an_execution(call, "run-3", at=100, deadline=150, digest="0" * 64))
    assert place.everything() == before


def test_a_call_without_a_record_is_not_entered(place: Place) -> None:
    paused(place.store, a_call())

    for session_id, call_id in (("s1", "c9-9"), ("s0", "c2-0")):
        with pytest.raises(LostRace):
            place.store.claim(session_id, call_id, an_execution(a_call()))


@pytest.mark.parametrize("status", ENDS)
def test_an_execution_records_its_end_together_with_the_result(store: SessionStore, status: CallStatus) -> None:
    call = a_call()
    session = paused(store, call)
    executing = brought(store, call, CallStatus.EXECUTING)
    end = ended(executing, status)

    head = store.commit(closing(session, end, "run-1"))

    assert head == store.head("s1") == session.head
    assert store.call("s1", "c2-0") == end
    assert store.load("s1").events == (*session.events, a_result(end))


def test_what_was_in_doubt_is_settled_by_the_late_result_of_the_same_execution(store: SessionStore) -> None:
    call = a_call()
    paused(store, call)
    in_doubt = brought(store, call, CallStatus.IN_DOUBT)
    late = replace(in_doubt, status=CallStatus.SUCCEEDED, outcome="done late")

    store.commit(settling(store.head("s1"), late, "run-1"))

    assert store.call("s1", "c2-0") == late


@pytest.mark.parametrize("execution_id", ["run-0", "", None])
def test_r43_only_the_execution_that_holds_the_call_records_its_end(place: Place, execution_id: str | None) -> None:
    call = a_call()
    session = paused(place.store, call)
    executing = brought(place.store, call, CallStatus.EXECUTING)
    before = place.everything()

    with pytest.raises(LostRace):
        place.store.commit(closing(session, ended(executing), execution_id))

    assert place.everything() == before


def test_r43_an_execution_that_was_given_up_records_nothing(place: Place) -> None:
    call = a_call(retry_safe=True)
    session = paused(place.store, call)
    first = brought(place.store, call, CallStatus.EXECUTING)
    place.store.claim("s1", "c2-0", an_execution(first, "run-2", at=60, deadline=90))
    before = place.everything()

    with pytest.raises(LostRace):
        place.store.commit(closing(session, ended(first), "run-1"))

    assert place.everything() == before


def test_an_end_whose_place_in_the_log_is_taken_writes_nothing(place: Place) -> None:
    call = a_call()
    session = paused(place.store, call)
    executing = brought(place.store, call, CallStatus.EXECUTING)
    place.store.commit(appending(session, said("somebody else")))
    before = place.everything()

    with pytest.raises(LostRace):
        place.store.commit(closing(session, ended(executing), "run-1"))
    assert place.everything() == before

    # It has happened, so it is recorded behind what the other one wrote.
    place.store.commit(closing(place.store.load("s1"), ended(executing), "run-1"))
    assert place.store.load("s1").results["c2-0"].text == "done"


def test_an_end_needs_no_lease(store: SessionStore) -> None:
    session = a_session()
    store.create(session)
    store.commit(pausing(session, call := an_ungated_call(), status=None))
    executing = store.claim("s1", "c2-0", an_execution(call))
    head = store.lease("s1", a_lease("other", until=200), now=moment(100), statuses=frozenset({RUNNING}))

    commit = closing(store.load("s1"), ended(executing), "run-1")
    assert commit.lease_id == MINE
    store.commit(commit)

    assert store.call("s1", "c2-0") == ended(executing)
    assert store.head("s1") == head


@pytest.mark.parametrize("origin", [CallStatus.PENDING, CallStatus.APPROVED])
def test_case_46_a_call_whose_tool_changed_becomes_stale_with_its_result(
    store: SessionStore, origin: CallStatus
) -> None:
    call = a_call()
    session = paused(store, call)
    stale = closed(brought(store, call, origin), CallStatus.STALE, outcome="Not run: the tool changed.")

    store.commit(closing(session, stale, None))

    assert store.call("s1", "c2-0") == stale
    assert store.load("s1").next_seq == session.next_seq + 1


def test_a_call_becomes_stale_only_while_nobody_has_entered_it(place: Place) -> None:
    call = a_call()
    session = paused(place.store, call)
    approved = brought(place.store, call, CallStatus.APPROVED)
    place.store.claim("s1", "c2-0", an_execution(approved))
    before = place.everything()

    for execution_id in (None, "run-1"):
        with pytest.raises(LostRace):
            place.store.commit(closing(session, closed(approved, CallStatus.STALE, outcome="x"), execution_id))

    assert place.everything() == before


@pytest.mark.parametrize("status", [CallStatus.REJECTED, CallStatus.EXPIRED])
def test_a_refused_call_is_answered_and_keeps_its_status_and_its_decision(
    store: SessionStore, status: CallStatus
) -> None:
    call = a_call()
    session = paused(store, call)
    refused = brought(store, call, CallStatus.REJECTED)
    if status is CallStatus.EXPIRED:
        session = paused(store, call := a_call(session_id="s2"), session_id="s2")
        expired = closed(call, CallStatus.EXPIRED)  # as the sweeper leaves it: without an answer yet
        store.commit(settling(session.head, expired, None))
        refused = store.call("s2", "c2-0")
        assert not refused.told
    told = model_told(refused, outcome="Not run.")

    store.commit(closing(session, told, None))

    assert store.call(session.head.session_id, "c2-0") == told
    assert (told.status, told.decision) == (refused.status, refused.decision)


def test_the_approver_is_told_of_a_pending_call_once_and_for_all(store: SessionStore) -> None:
    call = a_call()
    paused(store, call)

    store.mark_notified(call)
    store.mark_notified(call)

    assert store.call("s1", "c2-0") == replace(call, notify="sent")


@pytest.mark.parametrize("status", [status for status in CallStatus if status is not CallStatus.PENDING])
def test_a_notice_changes_nothing_in_a_call_that_moved_on(place: Place, status: CallStatus) -> None:
    call = that_can_be(status)
    paused(place.store, call)
    brought(place.store, call, status)
    before = place.everything()

    place.store.mark_notified(call)

    assert place.everything() == before


def test_a_decision_between_the_notice_and_its_note_stands(store: SessionStore) -> None:
    call = a_call()
    paused(store, call)
    standing = store.decide("s1", "c2-0", a_decision(call), token_hash=None)

    store.mark_notified(call)

    assert store.call("s1", "c2-0") == standing


def test_a_notice_of_an_unknown_call_is_not_noted(store: SessionStore) -> None:
    paused(store, a_call())

    with pytest.raises(NotFound):
        store.mark_notified(a_call("c9-9"))
