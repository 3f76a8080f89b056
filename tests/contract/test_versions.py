"""Rows of a newer version: refused, and nothing of them changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from pausepoint.domain.calls import CallStatus, closed
from pausepoint.domain.session import Session, SessionStatus
from pausepoint.errors import UnsupportedVersion
from pausepoint.runtime.ports import DueRow, SessionStore
from tests.support.stored import (
    PAUSED,
    RUNNING,
    TOKEN_HASH,
    a_call,
    a_decision,
    a_lease,
    a_resolution,
    a_session,
    an_execution,
    brought,
    cancel,
    closing,
    ended,
    ending,
    moment,
    paused,
    pausing,
)
from tests.support.tables import Table

Step = Callable[[SessionStore, Session], object]
ANY = frozenset({RUNNING, PAUSED})
NEWER = {"N": "2"}


def make_newer(table: Table, sk: str) -> None:
    table.alter("s1", sk, lambda item: item.update(version=NEWER))


HEAD_STEPS: dict[str, Step] = {
    "load": lambda store, _: store.load("s1"),
    "head": lambda store, _: store.head("s1"),
    "lease": lambda store, _: store.lease("s1", a_lease(until=200), now=moment(100), statuses=ANY),
    "pause": lambda store, session: store.commit(pausing(session, a_call())),
    "records": lambda store, session: store.commit(pausing(session, a_call(), status=None)),
    "end": lambda store, session: store.commit(ending(session)),
    "status": lambda store, session: store.commit(replace(ending(session), entry=None)),
    "cancel": cancel,
    "postpone": lambda store, _: store.postpone(DueRow("s1", None, moment(60)), until=moment(500)),
}


@pytest.mark.parametrize("step", HEAD_STEPS.values(), ids=HEAD_STEPS.keys())
def test_case_47_a_head_of_a_newer_version_is_refused_and_left_alone(table: Table, step: Step) -> None:
    store = table.store()
    session = a_session()
    store.create(session)
    make_newer(table, "META")
    before = table.items()

    with pytest.raises(UnsupportedVersion):
        step(store, session)

    assert table.items() == before


PENDING_STEPS: dict[str, Step] = {
    "load": lambda store, _: store.load("s1"),
    "call": lambda store, _: store.call("s1", "c2-0"),
    "decide": lambda store, _: store.decide("s1", "c2-0", a_decision(a_call()), token_hash=TOKEN_HASH),
    "link": lambda store, _: store.add_link(a_call(), "hash", reconciled=False),
    "expire": lambda store, _: store.expire(a_call(), now=moment(5000)),
    "resolve": lambda store, _: store.resolve("s1", "c2-0", a_resolution(), token_hash=None),
    "count": lambda store, _: store.count_code_try("s1", "c2-0", TOKEN_HASH),
    "postpone": lambda store, _: store.postpone(DueRow("s1", "c2-0", moment(1)), until=moment(500)),
    "note": lambda store, _: store.mark_notified(a_call()),
    "stale": lambda store, session: store.commit(
        closing(session, closed(a_call(), CallStatus.STALE, outcome="x"), None)
    ),
    "cancel": cancel,
}


@pytest.mark.parametrize("step", PENDING_STEPS.values(), ids=PENDING_STEPS.keys())
def test_case_47_a_pending_call_of_a_newer_version_is_refused_and_left_alone(table: Table, step: Step) -> None:
    store = table.store()
    session = paused(store, a_call())
    make_newer(table, "CALL#c2-0")
    before = table.items()

    with pytest.raises(UnsupportedVersion):
        step(store, session)

    assert table.items() == before


def test_case_47_an_approved_call_of_a_newer_version_is_not_entered(table: Table) -> None:
    store = table.store()
    paused(store, a_call())
    approved = brought(store, a_call(), CallStatus.APPROVED)
    make_newer(table, "CALL#c2-0")
    before = table.items()

    with pytest.raises(UnsupportedVersion):
        store.claim("s1", "c2-0", an_execution(approved))

    assert table.items() == before


def test_case_47_an_executing_call_that_a_newer_version_took_over_is_left_to_it(table: Table) -> None:
    store = table.store()
    session = paused(store, a_call())
    executing = brought(store, a_call(), CallStatus.EXECUTING)
    make_newer(table, "CALL#c2-0")
    before = table.items()

    with pytest.raises(UnsupportedVersion):
        store.commit(closing(session, ended(executing), "run-1"))

    assert table.items() == before


@pytest.mark.parametrize("sk", ["EV#0000000001", "SPEC"])
def test_case_47_a_log_or_a_spec_of_a_newer_version_is_not_read(table: Table, sk: str) -> None:
    store = table.store()
    store.create(a_session())
    make_newer(table, sk)

    with pytest.raises(UnsupportedVersion):
        store.load("s1")


def test_case_47_a_taken_id_of_a_newer_version_is_not_overwritten(table: Table) -> None:
    store = table.store()
    store.create(a_session())
    make_newer(table, "META")
    before = table.items()

    with pytest.raises(UnsupportedVersion):
        store.create(a_session(text="other"))

    assert table.items() == before


def test_case_47_a_call_that_a_newer_version_took_over_is_not_doubted(table: Table) -> None:
    store = table.store()
    paused(store, a_call())
    executing = brought(store, a_call(), CallStatus.EXECUTING)
    make_newer(table, "CALL#c2-0")
    before = table.items()

    with pytest.raises(UnsupportedVersion):
        store.doubt(executing, now=moment(5000))

    assert table.items() == before


def test_case_47_what_a_newer_version_wrote_does_not_hide_the_rest_of_a_list(table: Table) -> None:
    store = table.store()
    paused(store, a_call("c2-0"), a_call("c2-1"))
    paused(store, a_call(session_id="s2"), session_id="s2")
    make_newer(table, "META")
    make_newer(table, "CALL#c2-0")
    before = table.items()

    heads, _ = store.sessions(None, limit=10, before=None)
    calls, _ = store.pending(limit=10, after=None)

    assert [head.session_id for head in heads] == ["s2"]
    assert {(call.session_id, call.call_id) for call in calls} == {("s1", "c2-1"), ("s2", "c2-0")}
    assert table.items() == before


def test_the_other_sessions_of_a_table_are_none_the_worse(table: Table) -> None:
    store = table.store()
    store.create(a_session())
    store.create(a_session("s2"))
    make_newer(table, "META")

    assert store.lease("s2", a_lease(), now=moment(1), statuses=ANY).status is SessionStatus.RUNNING


def test_case_47_an_agent_stored_by_a_newer_version_is_not_read(table: Table) -> None:
    table.store().create(a_session())
    make_newer(table, "SPEC")

    with pytest.raises(UnsupportedVersion):
        table.store().spec("s1")
