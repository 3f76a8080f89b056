"""Appending, pausing and ending: the log is the lock, and a write is there as a whole or not at all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from pausepoint.domain.calls import CallStatus
from pausepoint.domain.events import LogEntry
from pausepoint.domain.session import SessionStatus
from pausepoint.errors import LostRace
from pausepoint.runtime.ports import SessionStore
from tests.contract.conftest import Place
from tests.support.stored import (
    PAUSED,
    RUNNING,
    a_call,
    a_lease,
    a_session,
    a_turn,
    an_execution,
    an_ungated_call,
    appending,
    cancel,
    closing,
    ended,
    ending,
    moment,
    paused,
    pausing,
    said,
)


def test_i6_entries_follow_each_other_without_a_gap(store: SessionStore) -> None:
    session = a_session()
    store.create(session)
    written = [said("two"), said("three"), said("four")]

    store.commit(appending(store.load("s1"), written[0], written[1]))
    store.commit(appending(store.load("s1"), written[2]))

    loaded = store.load("s1")
    assert loaded.events == (*session.events, *written)
    assert loaded.next_seq == 5
    assert loaded.head == session.head


def test_r52_who_appends_second_loses_and_writes_nothing(place: Place) -> None:
    place.store.create(a_session())
    mine = theirs = place.store.load("s1")
    place.store.commit(appending(theirs, said("theirs"), said("theirs too")))
    before = place.everything()

    with pytest.raises(LostRace):
        place.store.commit(appending(mine, said("mine")))

    assert place.everything() == before


def test_pausing_writes_turn_and_records_and_gives_the_lease_back(store: SessionStore) -> None:
    session = a_session()
    store.create(session)
    calls = (a_call("c2-0"), a_call("c2-1"))

    head = store.commit(pausing(session, *calls))

    loaded = store.load("s1")
    assert loaded.head == head
    assert (head.status, head.lease, head.updated_at) == (PAUSED, None, moment(2))
    assert loaded.events[-1] == a_turn(*calls)
    assert loaded.calls == {"c2-0": calls[0], "c2-1": calls[1]}
    assert store.call("s1", "c2-1") == calls[1]


def test_a_turn_of_which_something_can_run_keeps_the_lease(store: SessionStore) -> None:
    session = a_session()
    store.create(session)

    head = store.commit(pausing(session, a_call("c2-0"), an_ungated_call("c2-1"), status=None))

    assert head == session.head == store.head("s1")
    assert set(store.load("s1").calls) == {"c2-0", "c2-1"}


def the_log_goes_on(store: SessionStore) -> None:
    store.commit(appending(store.load("s1"), said("somebody else")))


def the_lease_is_taken_over(store: SessionStore) -> None:
    store.lease("s1", a_lease("other", until=200), now=moment(100), statuses=frozenset({RUNNING}))


def the_lease_is_gone(store: SessionStore) -> None:
    store.commit(replace(ending(store.load("s1")), entry=None))


def the_session_is_cancelled(store: SessionStore) -> None:
    cancel(store, store.load("s1"))


RIVALS = [the_log_goes_on, the_lease_is_taken_over, the_lease_is_gone, the_session_is_cancelled]


@pytest.mark.parametrize("status", [PAUSED, None], ids=["pausing", "going_on"])
@pytest.mark.parametrize("rival", RIVALS)
def test_r52_a_pause_that_loses_any_of_its_conditions_writes_nothing(
    place: Place, rival: Callable[[SessionStore], None], status: SessionStatus | None
) -> None:
    session = a_session()
    place.store.create(session)
    commit = pausing(session, a_call("c2-0"), a_call("c2-1"), status=status)
    rival(place.store)
    before = place.everything()

    with pytest.raises(LostRace):
        place.store.commit(commit)

    assert place.everything() == before


@pytest.mark.parametrize("status", [PAUSED, None], ids=["pausing", "going_on"])
def test_a_record_is_never_written_over(place: Place, status: SessionStatus | None) -> None:
    store = place.store
    store.create(a_session())
    store.commit(pausing(store.load("s1"), a_call("c2-0"), status=None))
    before = place.everything()

    with pytest.raises(LostRace):
        store.commit(pausing(store.load("s1"), a_call("c2-1"), a_call("c2-0", name="other"), status=status))

    assert place.everything() == before


def test_new_records_need_the_lease_even_without_an_entry(place: Place) -> None:
    session = a_session()
    place.store.create(session)
    the_lease_is_taken_over(place.store)
    before = place.everything()

    with pytest.raises(LostRace):
        place.store.commit(replace(pausing(session, a_call(), status=None), entry=None))

    assert place.everything() == before


@pytest.mark.parametrize("status", [SessionStatus.COMPLETED, SessionStatus.FAILED])
def test_ending_writes_the_last_turn_and_gives_the_lease_back(store: SessionStore, status: SessionStatus) -> None:
    session = a_session()
    store.create(session)

    head = store.commit(ending(session, status=status))

    loaded = store.load("s1")
    assert loaded.head == head
    assert (head.status, head.lease) == (status, None)
    assert loaded.events[-1] == a_turn()


@pytest.mark.parametrize("rival", RIVALS)
def test_an_end_that_loses_any_of_its_conditions_writes_nothing(
    place: Place, rival: Callable[[SessionStore], None]
) -> None:
    session = a_session()
    place.store.create(session)
    rival(place.store)
    before = place.everything()

    with pytest.raises(LostRace):
        place.store.commit(ending(session))

    assert place.everything() == before


def test_a_status_alone_needs_the_lease_too(place: Place) -> None:
    session = a_session()
    place.store.create(session)
    the_lease_is_taken_over(place.store)
    before = place.everything()

    with pytest.raises(LostRace):
        place.store.commit(replace(ending(session), entry=None))

    assert place.everything() == before


def test_handing_over_keeps_the_session_running_without_a_lease(store: SessionStore) -> None:
    session = a_session()
    store.create(session)

    store.commit(replace(ending(session, status=RUNNING), entry=None))

    assert (store.head("s1").status, store.head("s1").lease) == (RUNNING, None)
    store.lease("s1", a_lease("other"), now=moment(3), statuses=frozenset({RUNNING}))


def test_a_status_may_change_while_the_lease_is_kept(store: SessionStore) -> None:
    session = a_session()
    store.create(session)

    head = store.commit(replace(ending(session, status=RUNNING), keep_lease=True))

    assert head == store.head("s1")
    assert head.lease == session.head.lease


def test_what_a_vanished_session_would_get_is_lost(place: Place) -> None:
    gone = a_session("gone")
    call = a_call(session_id="gone")
    stale = closing(gone, replace(call, status=CallStatus.STALE), None)

    for commit in (ending(gone), pausing(gone, call), pausing(gone, call, status=None), stale):
        with pytest.raises(LostRace):
            place.store.commit(commit)
    with pytest.raises(LostRace):
        cancel(place.store, gone)

    assert place.everything() == []


def test_a_result_for_a_call_without_a_record_is_lost(place: Place) -> None:
    paused(place.store, a_call())
    before = place.everything()

    unknown = a_call("c9-9", status=CallStatus.STALE)
    with pytest.raises(LostRace):
        place.store.commit(closing(place.store.load("s1"), unknown, None))

    assert place.everything() == before


def test_r46_a_session_of_more_than_a_megabyte_is_loaded_whole_and_in_order(store: SessionStore) -> None:
    store.create(a_session())
    session = store.load("s1")
    for number in range(25):
        entry = LogEntry(first=session.next_seq, events=(said(f"{number} " + "ä" * 25_000), said(f"{number} too")))
        store.commit(replace(appending(session), entry=entry))
        session = session.after(entry)
    store.commit(pausing(session, call := a_call(f"c{session.next_seq}-0")))

    loaded = store.load("s1")

    assert loaded.events == (*session.events, a_turn(call))
    assert loaded.calls == {call.call_id: call}


def test_results_ride_with_the_record_of_a_call(store: SessionStore) -> None:
    session = a_session()
    store.create(session)
    store.commit(pausing(session, call := an_ungated_call(), status=None))
    executing = store.claim("s1", "c2-0", an_execution(call))

    store.commit(closing(store.load("s1"), ended(executing), "run-1"))

    assert store.load("s1").results["c2-0"].text == "done"
    assert store.call("s1", call.call_id).status is CallStatus.SUCCEEDED
