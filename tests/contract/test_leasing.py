"""Creating a session, and taking the right to advance it."""

from __future__ import annotations

import pytest

from pausepoint.domain.session import SessionStatus
from pausepoint.errors import LostRace, NotFound, SessionBusy
from pausepoint.runtime.ports import SessionStore
from tests.contract.conftest import Place
from tests.support.stored import (
    MINE,
    PAUSED,
    RUNNING,
    a_call,
    a_lease,
    a_session,
    cancel,
    ending,
    moment,
    paused,
)

ANY = frozenset(SessionStatus) - {SessionStatus.CANCELLED}


def test_a_created_session_is_loaded_as_it_was(store: SessionStore) -> None:
    session = a_session()
    store.create(session)

    assert store.load("s1") == session
    assert store.head("s1") == session.head


def test_case_43_an_id_is_taken_once_and_the_first_session_stands(place: Place) -> None:
    place.store.create(a_session(text="first"))
    before = place.everything()

    with pytest.raises(LostRace):
        place.store.create(a_session(text="second"))

    assert place.everything() == before


def test_what_is_not_there_is_not_found(store: SessionStore) -> None:
    paused(store, a_call())

    for ask in (
        lambda: store.load("s0"),
        lambda: store.head("s0"),
        lambda: store.call("s0", "c2-0"),
        lambda: store.call("s1", "c9-9"),
        lambda: store.lease("s0", a_lease(), now=moment(0), statuses=ANY),
    ):
        with pytest.raises(NotFound):
            ask()


def test_a_free_lease_is_taken_and_the_session_runs(store: SessionStore) -> None:
    paused(store, a_call())

    head = store.lease("s1", a_lease("other", until=100), now=moment(70), statuses=frozenset({PAUSED}))

    assert head == store.head("s1")
    assert (head.status, head.lease, head.updated_at) == (RUNNING, a_lease("other", until=100), moment(70))


def test_a_lease_that_is_held_is_refused_up_to_its_last_moment(place: Place) -> None:
    place.store.create(a_session())
    before = place.everything()

    for now in (1, 59.999999, 60):
        with pytest.raises(SessionBusy):
            place.store.lease("s1", a_lease("other", until=100), now=moment(now), statuses=ANY)

    assert place.everything() == before


def test_a_lease_that_has_run_out_is_taken_over(store: SessionStore) -> None:
    store.create(a_session())

    head = store.lease("s1", a_lease("other", until=100), now=moment(60.000001), statuses=frozenset({RUNNING}))

    assert head.lease == a_lease("other", until=100)


def test_ones_own_lease_can_be_taken_again(store: SessionStore) -> None:
    store.create(a_session())

    head = store.lease("s1", a_lease(MINE, until=100), now=moment(30), statuses=frozenset({RUNNING}))

    assert head.lease == a_lease(MINE, until=100)


@pytest.mark.parametrize("status", list(SessionStatus))
def test_i4_a_lease_is_given_in_the_wanted_states_only(place: Place, status: SessionStatus) -> None:
    store = place.store
    store.create(a_session())
    match status:
        case SessionStatus.RUNNING:
            pass
        case SessionStatus.CANCELLED:
            cancel(store, store.load("s1"))
        case _:
            store.commit(ending(store.load("s1"), status=status))
    assert store.head("s1").status is status
    before = place.everything()

    for wanted in SessionStatus:
        if wanted is not status:
            with pytest.raises(SessionBusy):
                store.lease("s1", a_lease("other", until=200), now=moment(100), statuses=frozenset({wanted}))
    with pytest.raises(SessionBusy):
        store.lease("s1", a_lease("other", until=200), now=moment(100), statuses=frozenset(SessionStatus) - {status})
    assert place.everything() == before

    head = store.lease("s1", a_lease("other", until=200), now=moment(100), statuses=frozenset({status}))
    assert head.status is RUNNING
