"""What the sweeper needs: overdue rows in order, and conditional writes that do no harm when somebody was faster."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from pausepoint.domain.calls import MAX_LINKS, CallStatus, PendingToolCall
from pausepoint.domain.canonical import sha256_hex
from pausepoint.errors import LostRace
from pausepoint.runtime.ports import DueRow, SessionStore, Stall
from tests.contract.conftest import Place
from tests.support.stored import (
    RUNNING,
    TOKEN_HASH,
    a_call,
    a_decision,
    a_lease,
    a_session,
    brought,
    ending,
    moment,
    paused,
    that_can_be,
)

Act = Callable[[SessionStore], object]
ROW, HEAD = DueRow("s1", "c2-0", moment(1)), DueRow("s1", None, moment(60))
LINK = sha256_hex("another token")


def waiting(store: SessionStore, call: PendingToolCall | None = None) -> PendingToolCall:
    paused(store, call or a_call("c2-0"), a_call("c2-1"))
    return store.call("s1", "c2-0")


def calls_due(store: SessionStore, before: float, *, limit: int = 100) -> list[DueRow]:
    return store.due(calls=True, before=moment(before), limit=limit)


def sessions_due(store: SessionStore, before: float, *, limit: int = 100) -> list[DueRow]:
    return store.due(calls=False, before=moment(before), limit=limit)


# --- due


def test_r47_calls_are_due_the_longest_overdue_first_and_only_those_that_are_overdue(store: SessionStore) -> None:
    paused(store, a_call("c2-0", requested_at=moment(4)), a_call("c2-1", notify="sent"), a_call("c2-2"))
    paused(store, a_call(session_id="s2", requested_at=moment(2)), session_id="s2")
    paused(store, a_call(session_id="s3", requested_at=moment(3)), session_id="s3")
    brought(store, store.call("s1", "c2-2"), CallStatus.APPROVED)
    expected = [
        DueRow("s2", "c2-0", moment(2)),
        DueRow("s3", "c2-0", moment(3)),
        DueRow("s1", "c2-0", moment(4)),
        DueRow("s1", "c2-2", moment(10)),
        DueRow("s1", "c2-1", moment(1000)),
    ]

    assert calls_due(store, 1001) == expected
    assert calls_due(store, 1000) == expected[:4]  # what is due at this very moment is not overdue
    assert calls_due(store, 3.000001) == expected[:2]
    assert calls_due(store, 2) == []
    for limit in (1, 2, 3):
        assert calls_due(store, 1001, limit=limit) == expected[:limit]


def test_r47_sessions_are_due_once_their_runner_is_late_and_never_while_they_rest(store: SessionStore) -> None:
    for number, until in enumerate((90, 70, 80)):
        store.create(a_session(f"s{number}", lease=a_lease(until=until)))
    store.create(a_session("s3"))
    store.commit(replace(ending(store.load("s3"), status=RUNNING), entry=None))  # handed over: nobody holds it
    paused(store, a_call(session_id="s4"), session_id="s4")
    store.create(a_session("s5"))
    store.commit(ending(store.load("s5")))
    expected = [
        DueRow("s3", None, moment(40)),
        DueRow("s1", None, moment(70)),
        DueRow("s2", None, moment(80)),
        DueRow("s0", None, moment(90)),
    ]

    assert sessions_due(store, 1000) == expected
    assert sessions_due(store, 80) == expected[:2]
    assert sessions_due(store, 1000, limit=1) == expected[:1]


def test_nothing_is_due_in_an_empty_store(store: SessionStore) -> None:
    assert calls_due(store, 10**6) == sessions_due(store, 10**6) == []


# --- postpone


def test_a_postponed_call_comes_up_later_and_counts_who_came_by(swept: Place) -> None:
    store = swept.store
    call = waiting(store)

    store.postpone(ROW, until=moment(200))

    assert store.call("s1", "c2-0") == replace(call, sweeps=1)
    assert calls_due(store, 150) == [DueRow("s1", "c2-1", moment(1))]
    assert calls_due(store, 201)[-1] == DueRow("s1", "c2-0", moment(200))

    store.postpone(DueRow("s1", "c2-0", moment(200)), until=moment(300))

    assert store.call("s1", "c2-0").sweeps == 2
    assert calls_due(store, 201) == [DueRow("s1", "c2-1", moment(1))]


def test_a_call_that_moves_is_due_when_it_would_have_been_and_the_count_begins_anew(swept: Place) -> None:
    store = swept.store
    call = waiting(store)
    store.postpone(ROW, until=moment(500))

    store.decide("s1", "c2-0", a_decision(call), token_hash=None)

    assert store.call("s1", "c2-0").sweeps == 0
    assert DueRow("s1", "c2-0", moment(10)) in calls_due(store, 11)


def test_a_reminder_is_due_before_the_end_and_then_the_end(swept: Place) -> None:
    store = swept.store
    call = waiting(store)

    store.mark_notified(call, look_again=moment(400))

    told = store.call("s1", "c2-0")
    assert (told.notify, told.reminded) == ("sent", False)
    assert calls_due(store, 1001)[-1] == DueRow("s1", "c2-0", moment(400))

    store.mark_notified(told)

    assert store.call("s1", "c2-0") == replace(told, reminded=True)
    assert calls_due(store, 1001)[-1] == DueRow("s1", "c2-0", moment(1000))


def test_a_postponed_session_remembers_how_often_it_was_found_standing_still(swept: Place) -> None:
    store = swept.store
    session = a_session()
    store.create(session)

    store.postpone(HEAD, until=moment(200), stall=Stall(times=3, at=2))

    assert store.head("s1") == replace(session.head, stalls=3, stalled_at=2)
    assert sessions_due(store, 200) == []
    assert sessions_due(store, 201) == [DueRow("s1", None, moment(200))]

    store.postpone(DueRow("s1", None, moment(200)), until=moment(300))

    assert (store.head("s1").stalls, store.head("s1").stalled_at) == (3, 2)
    assert sessions_due(store, 301) == [DueRow("s1", None, moment(300))]


def test_a_session_that_is_taken_up_or_handed_over_is_due_when_it_would_have_been(swept: Place) -> None:
    store = swept.store
    store.create(a_session())
    store.postpone(HEAD, until=moment(500))
    store.commit(replace(ending(store.load("s1"), status=RUNNING), entry=None))
    assert sessions_due(store, 501) == [DueRow("s1", None, moment(40))]

    store.postpone(DueRow("s1", None, moment(40)), until=moment(500))
    store.lease("s1", a_lease("other", until=200), now=moment(100), statuses=frozenset({RUNNING}))
    assert sessions_due(store, 501) == [DueRow("s1", None, moment(200))]


def decided(store: SessionStore) -> None:
    store.decide("s1", "c2-0", a_decision(a_call()), token_hash=None)


def told(store: SessionStore) -> None:
    store.mark_notified(store.call("s1", "c2-0"))


def postponed(store: SessionStore) -> None:
    store.postpone(ROW, until=moment(300))


@pytest.mark.parametrize("rival", [decided, told, postponed])
def test_a_call_that_moved_is_not_postponed(swept: Place, rival: Act) -> None:
    store = swept.store
    waiting(store)
    rival(store)
    before = swept.everything()

    with pytest.raises(LostRace):
        store.postpone(ROW, until=moment(200))

    assert swept.everything() == before


def taken_up(store: SessionStore) -> None:
    store.lease("s1", a_lease("other", until=200), now=moment(100), statuses=frozenset({RUNNING}))


def laid_down(store: SessionStore) -> None:
    store.commit(replace(ending(store.load("s1")), entry=None))


@pytest.mark.parametrize("rival", [taken_up, laid_down])
def test_a_session_that_moved_is_not_postponed(swept: Place, rival: Act) -> None:
    store = swept.store
    store.create(a_session())
    rival(store)
    before = swept.everything()

    with pytest.raises(LostRace):
        store.postpone(HEAD, until=moment(500), stall=Stall(times=1, at=2))

    assert swept.everything() == before


@pytest.mark.parametrize(
    "row", [replace(ROW, call_id="c9-9"), replace(ROW, session_id="s9"), replace(HEAD, session_id="s9")]
)
def test_what_is_gone_is_not_postponed_into_being(place: Place, row: DueRow) -> None:
    waiting(place.store)
    before = place.everything()

    with pytest.raises(LostRace):
        place.store.postpone(row, until=moment(500))

    assert place.everything() == before


# --- links


@pytest.mark.parametrize("status", [CallStatus.PENDING, CallStatus.IN_DOUBT])
@pytest.mark.parametrize("reconciled", [False, True])
def test_every_link_to_a_call_that_asks_opens_it(store: SessionStore, status: CallStatus, reconciled: bool) -> None:
    waiting(store)
    call = brought(store, store.call("s1", "c2-0"), status)

    linked = store.add_link(call, LINK, reconciled=reconciled)

    assert linked == store.call("s1", "c2-0")
    assert linked == replace(call, token_hashes=(TOKEN_HASH, LINK), notify="due", reconciled=reconciled)
    if status is CallStatus.PENDING:
        store.decide("s1", "c2-0", a_decision(call), token_hash=LINK)


def test_a_link_for_a_reminder_leaves_it_known_that_the_approver_was_told(store: SessionStore) -> None:
    call = waiting(store)
    store.mark_notified(call)

    assert store.add_link(store.call("s1", "c2-0"), LINK, reconciled=False).notify == "sent"


@pytest.mark.parametrize("status", [status for status in CallStatus if status is not CallStatus.PENDING])
def test_a_call_that_does_not_ask_what_it_asked_takes_no_link(place: Place, status: CallStatus) -> None:
    store = place.store
    asked = waiting(store, that_can_be(status))
    moved = brought(store, asked, status)
    before = place.everything()

    for known in (asked, moved) if status is not CallStatus.IN_DOUBT else (asked,):
        with pytest.raises(LostRace):
            store.add_link(known, LINK, reconciled=False)

    assert place.everything() == before


def test_of_two_links_made_at_once_one_is_refused_and_none_is_taken_away(place: Place) -> None:
    store = place.store
    call = waiting(store)
    store.add_link(call, LINK, reconciled=False)
    before = place.everything()

    with pytest.raises(LostRace):
        store.add_link(call, sha256_hex("a third"), reconciled=True)

    assert place.everything() == before


def test_the_links_to_a_call_are_bounded_and_the_latest_always_opens_it(store: SessionStore) -> None:
    call = waiting(store)
    for number in range(MAX_LINKS + 3):
        call = store.add_link(call, sha256_hex(f"link {number}"), reconciled=False)

    assert len(store.call("s1", "c2-0").token_hashes) == MAX_LINKS
    assert TOKEN_HASH in call.token_hashes
    store.decide("s1", "c2-0", a_decision(call), token_hash=sha256_hex(f"link {MAX_LINKS + 2}"))


def test_a_call_that_is_gone_takes_no_link_and_does_not_expire(place: Place) -> None:
    waiting(place.store)
    before = place.everything()

    for gone in (a_call("c9-9"), a_call(session_id="s9")):
        with pytest.raises(LostRace):
            place.store.add_link(gone, LINK, reconciled=False)
        with pytest.raises(LostRace):
            place.store.expire(gone, now=moment(5000))

    assert place.everything() == before
