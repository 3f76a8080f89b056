"""Ending a session for good."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from pausepoint.domain.calls import CallStatus
from pausepoint.domain.events import SessionCancelled
from pausepoint.domain.session import SessionStatus
from pausepoint.domain.steps import Finish, next_step
from pausepoint.errors import AlreadyDecided, LostRace, SessionBusy
from pausepoint.runtime.ports import SessionStore
from tests.contract.conftest import Place
from tests.support.stored import (
    RUNNING,
    a_call,
    a_decision,
    a_lease,
    a_session,
    an_execution,
    appending,
    brought,
    cancel,
    cancelling,
    closing,
    ended,
    ending,
    moment,
    paused,
    pausing,
    said,
)


def test_case_48_cancelling_closes_the_session_and_its_open_calls_in_one_piece(store: SessionStore) -> None:
    calls = [a_call(f"c2-{number}") for number in range(4)]
    paused(store, *calls)
    brought(store, calls[1], CallStatus.APPROVED)
    rejected = brought(store, calls[2], CallStatus.REJECTED)
    executing = brought(store, calls[3], CallStatus.EXECUTING)

    cancel(store, store.load("s1"))

    loaded = store.load("s1")
    assert (loaded.head.status, loaded.head.lease, loaded.head.updated_at) == (
        SessionStatus.CANCELLED,
        None,
        moment(35),
    )
    assert loaded.events[-1] == SessionCancelled(at=moment(35), by="jo")
    assert [call.status for call in loaded.calls.values()] == ["cancelled", "cancelled", "rejected", "executing"]
    assert (loaded.calls["c2-2"], loaded.calls["c2-3"]) == (rejected, executing)


@pytest.mark.parametrize("status", [SessionStatus.COMPLETED, SessionStatus.FAILED, SessionStatus.PAUSED])
def test_case_48_a_session_that_rests_can_be_cancelled(store: SessionStore, status: SessionStatus) -> None:
    session = a_session()
    store.create(session)
    store.commit(ending(session, status=status))

    cancel(store, store.load("s1"))

    assert store.head("s1").status is SessionStatus.CANCELLED


def the_log_goes_on(store: SessionStore) -> None:
    store.commit(appending(store.load("s1"), said("more")))


def somebody_approves(store: SessionStore) -> None:
    store.decide("s1", "c2-0", a_decision(a_call()), token_hash=None)


def somebody_rejects(store: SessionStore) -> None:
    store.decide("s1", "c2-0", a_decision(a_call(), "rejected"), token_hash=None)


def the_other_call_is_entered(store: SessionStore) -> None:
    store.claim("s1", "c2-1", an_execution(store.call("s1", "c2-1")))


def it_is_cancelled(store: SessionStore) -> None:
    cancel(store, store.load("s1"))


@pytest.mark.parametrize(
    "rival", [the_log_goes_on, somebody_approves, somebody_rejects, the_other_call_is_entered, it_is_cancelled]
)
def test_a_cancellation_of_what_has_moved_writes_nothing(place: Place, rival: Callable[[SessionStore], None]) -> None:
    store = place.store
    paused(store, a_call("c2-0"), a_call("c2-1"))
    brought(store, store.call("s1", "c2-1"), CallStatus.APPROVED)
    session = store.load("s1")
    rival(store)
    before = place.everything()

    with pytest.raises(LostRace):
        cancel(store, session)

    assert place.everything() == before


def test_case_48_nothing_can_be_decided_or_entered_afterwards(place: Place) -> None:
    store = place.store
    call = a_call("c2-0")
    paused(store, call, a_call("c2-1"))
    approved = brought(store, a_call("c2-1"), CallStatus.APPROVED)
    cancel(store, store.load("s1"))
    before = place.everything()

    with pytest.raises(AlreadyDecided) as refused:
        store.decide("s1", "c2-0", a_decision(call), token_hash=None)
    assert refused.value.call.status is CallStatus.CANCELLED
    with pytest.raises(LostRace):
        store.claim("s1", "c2-1", an_execution(approved))
    store.mark_notified(call)
    wanted = frozenset(SessionStatus) - {SessionStatus.CANCELLED}
    with pytest.raises(SessionBusy):
        store.lease("s1", a_lease("other", until=200), now=moment(100), statuses=wanted)

    assert place.everything() == before


def test_case_48_a_runner_that_was_under_way_writes_nothing_afterwards(place: Place) -> None:
    store = place.store
    session = a_session()
    store.create(session)
    cancel(store, session)
    before = place.everything()

    for late in (
        appending(session, said("more")),
        pausing(session, a_call()),
        pausing(session, a_call(), status=None),
        ending(session),
        replace(ending(session), entry=None),
        replace(ending(session, status=RUNNING), entry=None),
    ):
        with pytest.raises(LostRace):
            store.commit(late)

    assert place.everything() == before


def test_case_48_a_call_that_was_executing_still_records_its_end_and_the_session_stays_ended(
    store: SessionStore,
) -> None:
    call = a_call()
    paused(store, call)
    executing = brought(store, call, CallStatus.EXECUTING)
    cancel(store, store.load("s1"))

    store.commit(closing(store.load("s1"), ended(executing), "run-1"))

    loaded = store.load("s1")
    assert loaded.calls["c2-0"] == ended(executing)
    assert loaded.head.status is SessionStatus.CANCELLED
    assert next_step(loaded, moment(40)) == Finish()


def test_a_notice_that_goes_out_meanwhile_does_not_get_lost_calls_reopened(store: SessionStore) -> None:
    session = paused(store, a_call())
    store.mark_notified(a_call())
    entry, calls = cancelling(session)

    try:  # a store may see this as a move; then whoever cancels looks again
        store.close(session, entry, calls, status=SessionStatus.CANCELLED, at=moment(35))
    except LostRace:
        cancel(store, store.load("s1"))

    assert store.call("s1", "c2-0").status is CallStatus.CANCELLED
