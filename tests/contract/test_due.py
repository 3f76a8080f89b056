"""The sparse index `due`: after every step, just the rows that wait for a person or for work are in it."""

from __future__ import annotations

from dataclasses import replace

from pausepoint.adapters.dynamodb import rows
from pausepoint.domain.calls import CallStatus, closed, model_told
from tests.support.stored import (
    PAUSED,
    RUNNING,
    TOKEN_HASH,
    a_call,
    a_decision,
    a_lease,
    a_session,
    an_execution,
    an_ungated_call,
    cancel,
    closing,
    ended,
    ending,
    moment,
    paused,
    pausing,
    settling,
)
from tests.support.tables import Table

HEAD, FIRST, SECOND = ("s1", rows.META), ("s1", "CALL#c2-0"), ("s1", "CALL#c2-1")


def waiting(table: Table) -> set[tuple[str, str]]:
    """Check every row's place, and return what is in the index."""
    table.audit()
    return table.index(rows.DUE_INDEX)


def due(table: Table, key: tuple[str, str]) -> str:
    (item,) = (item for item in table.items() if (item["pk"]["S"], item["sk"]["S"]) == key)
    due_at: str = item["due_at"]["S"]
    return due_at


def test_r47_an_approval_on_its_way_is_always_found_by_who_looks_for_what_is_overdue(table: Table) -> None:
    store = table.store()
    call = a_call()
    store.create(a_session())
    assert waiting(table) == {HEAD}
    assert due(table, HEAD) == "2026-11-29T12:01:00.000000Z"  # when the lease runs out

    store.commit(pausing(store.load("s1"), call))
    assert waiting(table) == {FIRST}
    assert due(table, FIRST) == "2026-11-29T12:00:01.000000Z"  # at once: nobody was told yet

    store.mark_notified(call)
    assert waiting(table) == {FIRST}
    assert due(table, FIRST) == "2026-11-29T12:16:40.000000Z"  # when it expires

    approved = store.decide("s1", "c2-0", a_decision(call), token_hash=TOKEN_HASH)
    assert waiting(table) == {FIRST}
    assert due(table, FIRST) == "2026-11-29T12:00:10.000000Z"  # at once: somebody has to run it

    store.lease("s1", a_lease("other", until=200), now=moment(100), statuses=frozenset({PAUSED}))
    assert waiting(table) == {HEAD, FIRST}

    executing = store.claim("s1", "c2-0", an_execution(approved, at=110, deadline=190))
    assert waiting(table) == {HEAD, FIRST}
    assert due(table, FIRST) == "2026-11-29T12:03:10.000000Z"  # when nobody will hear from it any more

    store.commit(closing(store.load("s1"), ended(executing), "run-1"))
    assert waiting(table) == {HEAD}

    store.commit(replace(ending(store.load("s1"), status=RUNNING, lease_id="other"), entry=None))
    assert waiting(table) == {HEAD}
    assert due(table, HEAD) == "2026-11-29T12:00:40.000000Z"  # at once: nobody is at it

    store.lease("s1", a_lease("third", until=300), now=moment(210), statuses=frozenset({RUNNING}))
    store.commit(ending(store.load("s1"), lease_id="third"))
    assert waiting(table) == set()


def test_r47_a_refused_call_waits_until_the_model_is_told(table: Table) -> None:
    store = table.store()
    rejected, expired = a_call("c2-0"), a_call("c2-1")
    session = paused(store, rejected, expired)

    rejected = store.decide("s1", "c2-0", a_decision(rejected, "rejected"), token_hash=TOKEN_HASH)
    assert waiting(table) == {FIRST, SECOND}
    assert due(table, FIRST) == "2026-11-29T12:00:10.000000Z"

    expired = closed(expired, CallStatus.EXPIRED)
    store.commit(settling(session.head, expired, None))
    assert waiting(table) == {FIRST, SECOND}
    assert due(table, SECOND) == "2026-11-29T12:16:40.000000Z"

    store.commit(closing(store.load("s1"), model_told(rejected, outcome="Not run."), None))
    assert waiting(table) == {SECOND}
    store.commit(closing(store.load("s1"), model_told(expired, outcome="Not run."), None))
    assert waiting(table) == set()


def test_r47_what_is_in_doubt_waits_for_a_person(table: Table) -> None:
    store = table.store()
    call = an_ungated_call()
    store.create(a_session())
    store.commit(pausing(store.load("s1"), call, status=None))
    assert waiting(table) == {HEAD, FIRST}  # nobody has to approve it, somebody has to run it

    executing = store.claim("s1", "c2-0", an_execution(call))
    in_doubt = ended(executing, CallStatus.IN_DOUBT)
    store.commit(settling(store.head("s1"), in_doubt, "run-1"))

    assert waiting(table) == {HEAD, FIRST}
    assert due(table, FIRST) == "2026-11-29T12:00:50.000000Z"


def test_nothing_waits_in_a_cancelled_session_but_what_is_running(table: Table) -> None:
    store = table.store()
    calls = [a_call("c2-0"), a_call("c2-1"), a_call("c2-2")]
    paused(store, *calls)
    store.decide("s1", "c2-0", a_decision(calls[0]), token_hash=None)
    approved = store.decide("s1", "c2-1", a_decision(calls[1]), token_hash=None)
    executing = store.claim("s1", "c2-1", an_execution(approved))

    cancel(store, store.load("s1"))
    assert waiting(table) == {SECOND}

    store.commit(closing(store.load("s1"), ended(executing), "run-1"))
    assert waiting(table) == set()


def test_a_stale_call_waits_for_nothing(table: Table) -> None:
    store = table.store()
    session = paused(store, a_call())

    store.commit(closing(session, closed(a_call(), CallStatus.STALE, outcome="Not run."), None))

    assert waiting(table) == set()
