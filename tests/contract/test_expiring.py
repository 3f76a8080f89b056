"""What the clock ends: calls that nobody decided in time, and sessions that do not get further."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pytest

from pausepoint.domain.calls import CallStatus, PendingToolCall, closed, model_told
from pausepoint.domain.events import LogEntry, SessionFailed
from pausepoint.domain.session import Session, SessionStatus
from pausepoint.errors import AlreadyDecided, LostRace
from pausepoint.runtime.ports import DueRow, SessionStore
from tests.contract.conftest import Place
from tests.contract.test_concurrency import at_once, rounds
from tests.support.stored import (
    PAUSED,
    RUNNING,
    a_call,
    a_decision,
    a_lease,
    a_session,
    appending,
    brought,
    closing,
    ending,
    moment,
    paused,
    pausing,
    said,
)

Act = Callable[[SessionStore], object]


def test_case_45_a_call_that_nobody_decided_in_time_expires_and_waits_for_its_answer(store: SessionStore) -> None:
    session = paused(store, call := a_call())

    expired = store.expire(call, now=moment(1000))

    assert expired == store.call("s1", "c2-0") == replace(call, status=CallStatus.EXPIRED)
    assert store.due(calls=True, before=moment(1001), limit=9) == [DueRow("s1", "c2-0", moment(1000))]
    store.commit(closing(session, model_told(expired, outcome="Not run."), None))
    assert store.call("s1", "c2-0") == model_told(expired, outcome="Not run.")
    assert store.due(calls=True, before=moment(5000), limit=9) == []


def test_case_45_a_call_does_not_expire_before_its_time(place: Place) -> None:
    paused(place.store, call := a_call())
    before = place.everything()

    with pytest.raises(LostRace):
        place.store.expire(call, now=moment(999.999999))

    assert place.everything() == before


def test_case_45_what_is_known_of_its_time_does_not_count_but_what_is_stored(place: Place) -> None:
    paused(place.store, call := a_call())
    before = place.everything()

    with pytest.raises(LostRace):
        place.store.expire(replace(call, expires_at=moment(500)), now=moment(600))

    assert place.everything() == before


def test_case_45_of_a_decision_and_the_end_of_the_time_one_wins(store: SessionStore) -> None:
    for session_id in rounds(store, a_call()):
        call = store.load(session_id).calls["c2-0"]
        decision = a_decision(call, at=999)

        decided, expired = at_once(
            [
                partial(store.decide, session_id, "c2-0", decision, token_hash=None),
                partial(store.expire, call, now=moment(1000)),
            ]
        )

        standing = store.call(session_id, "c2-0")
        if standing.status is CallStatus.EXPIRED:
            assert isinstance(decided, AlreadyDecided)
            assert (decided.call, expired) == (standing, standing)
        else:
            assert isinstance(expired, LostRace)
            assert decided == standing


# --- sessions that do not get further


def failing(store: SessionStore, session: Session) -> list[PendingToolCall]:
    """Fail a session as the sweeper does; return the calls that it closes."""
    failed = SessionFailed(at=moment(100), code="stalled", message="It did not get further.")
    open_calls = [call for call in session.calls.values() if call.status in (CallStatus.PENDING, CallStatus.APPROVED)]
    calls = [closed(call, CallStatus.CANCELLED) for call in open_calls]
    entry = LogEntry(first=session.next_seq, events=(failed,))
    store.close(session, entry, calls, status=SessionStatus.FAILED, at=moment(100))
    return calls


def running(store: SessionStore) -> Session:
    """Store a session that runs, with two calls that wait and one that is executing."""
    store.create(a_session())
    calls = [a_call(f"c2-{number}") for number in range(3)]
    store.commit(pausing(store.load("s1"), *calls, status=None))
    brought(store, calls[1], CallStatus.APPROVED)
    brought(store, calls[2], CallStatus.EXECUTING)
    return store.load("s1")


def test_r51_a_session_that_does_not_get_further_fails_with_its_open_calls_in_one_piece(store: SessionStore) -> None:
    session = running(store)

    calls = failing(store, session)

    loaded = store.load("s1")
    assert (loaded.head.status, loaded.head.lease, loaded.head.updated_at) == ("failed", None, moment(100))
    assert loaded.failure is not None
    assert loaded.failure.code == "stalled"
    assert [call.status for call in loaded.calls.values()] == ["cancelled", "cancelled", "executing"]
    assert [loaded.calls["c2-0"], loaded.calls["c2-1"]] == calls
    assert store.due(calls=False, before=moment(5000), limit=9) == []


def the_log_goes_on(store: SessionStore) -> None:
    store.commit(appending(store.load("s1"), said("more")))


def somebody_takes_it_up(store: SessionStore) -> None:
    store.lease("s1", a_lease("other", until=300), now=moment(99), statuses=frozenset({RUNNING}))


def it_comes_to_rest(store: SessionStore) -> None:
    store.commit(replace(ending(store.load("s1")), entry=None))


def it_pauses(store: SessionStore) -> None:
    store.commit(replace(ending(store.load("s1"), status=PAUSED), entry=None))


def somebody_decides(store: SessionStore) -> None:
    store.decide("s1", "c2-0", a_decision(a_call()), token_hash=None)


def somebody_fails_it(store: SessionStore) -> None:
    failing(store, store.load("s1"))


@pytest.mark.parametrize(
    "rival",
    [the_log_goes_on, somebody_takes_it_up, it_comes_to_rest, it_pauses, somebody_decides, somebody_fails_it],
)
def test_r51_a_session_that_moved_does_not_fail(place: Place, rival: Act) -> None:
    session = running(place.store)
    rival(place.store)
    before = place.everything()

    with pytest.raises(LostRace):
        failing(place.store, session)

    assert place.everything() == before


def test_r51_a_runner_that_was_under_way_writes_nothing_into_a_session_that_failed(place: Place) -> None:
    session = running(place.store)
    failing(place.store, session)
    before = place.everything()

    for late in (appending(session, said("more")), ending(session), replace(ending(session), entry=None)):
        with pytest.raises(LostRace):
            place.store.commit(late)

    assert place.everything() == before
