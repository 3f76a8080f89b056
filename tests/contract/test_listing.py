"""Lists over all sessions, page by page."""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

import pytest

from pausepoint.domain.calls import CallStatus, Presentation
from pausepoint.domain.session import SessionStatus
from pausepoint.domain.waiting import ALL_WAITING, Waiting
from pausepoint.errors import InvalidInput
from pausepoint.runtime.ports import SessionStore
from tests.support.stored import (
    a_call,
    a_decision,
    a_lease,
    a_session,
    brought,
    cancel,
    ending,
    moment,
    paused,
)
from tests.support.tables import Table

Row = TypeVar("Row")


def pages(read: Callable[[str | None], tuple[list[Row], str | None]]) -> list[list[Row]]:
    """Follow `next` to the end; leave out an empty page at the end, which an index may have."""
    found: list[list[Row]] = []
    start = None
    for _ in range(100):
        rows, start = read(start)
        found.append(rows)
        if start is None:
            return found if found[-1] or len(found) == 1 else found[:-1]
    pytest.fail("the list does not end")


def an_id(number: int) -> str:
    return f"session{number:019}"


def four_sessions(store: SessionStore) -> None:
    """Store sessions whose order of creation is not the order in which they changed last."""
    for number, status in enumerate(
        (SessionStatus.COMPLETED, SessionStatus.RUNNING, SessionStatus.COMPLETED, SessionStatus.FAILED)
    ):
        session = a_session(an_id(number), created_at=moment(number), updated_at=moment(number))
        store.create(session)
        if status is not SessionStatus.RUNNING:
            commit = ending(session, status=status)
            store.commit(replace(commit, at=moment(100 - number)))


@pytest.mark.parametrize("limit", [1, 2, 3, 4, 5, 100])
def test_sessions_are_listed_the_latest_changed_first_and_each_once(store: SessionStore, limit: int) -> None:
    four_sessions(store)

    listed = pages(lambda start: store.sessions(None, limit=limit, before=start))

    heads = [head for page in listed for head in page]
    assert [head.session_id for head in heads] == [an_id(number) for number in (0, 2, 3, 1)]
    assert heads == [store.head(head.session_id) for head in heads]
    assert [len(page) for page in listed] == [len(heads[start : start + limit]) for start in range(0, 4, limit)]


def test_sessions_are_listed_by_status(store: SessionStore) -> None:
    four_sessions(store)

    def listed(status: SessionStatus) -> list[int]:
        found = pages(lambda start: store.sessions(status, limit=1, before=start))
        return [int(head.session_id.removeprefix("session")) for page in found for head in page]

    assert {status: listed(status) for status in SessionStatus} == {
        SessionStatus.RUNNING: [1],
        SessionStatus.PAUSED: [],
        SessionStatus.COMPLETED: [0, 2],
        SessionStatus.FAILED: [3],
        SessionStatus.CANCELLED: [],
    }

    store.lease(an_id(2), a_lease("other", until=300), now=moment(200), statuses=frozenset({SessionStatus.COMPLETED}))
    cancel(store, store.load(an_id(1)))

    assert listed(SessionStatus.COMPLETED) == [0]
    assert listed(SessionStatus.RUNNING) == [2]
    assert listed(SessionStatus.CANCELLED) == [1]


def test_sessions_that_changed_in_the_same_moment_are_all_listed(store: SessionStore) -> None:
    ids = [an_id(number) for number in range(7)]
    for session_id in ids:
        store.create(a_session(session_id))

    listed = pages(lambda start: store.sessions(None, limit=2, before=start))

    assert [head.session_id for page in listed for head in page] == ids[::-1]


@pytest.mark.emulator  # takes long on moto
def test_a_hundred_rows_fit_on_a_page(ministack_table: Table) -> None:
    store = ministack_table.store()
    for number in range(103):
        store.create(a_session(an_id(number)))

    heads, following = store.sessions(None, limit=100, before=None)
    rest, end = store.sessions(None, limit=100, before=following)

    listed = [head.session_id for head in (*heads, *rest)]
    assert (listed, end) == ([an_id(number) for number in range(102, -1, -1)], None)


@pytest.mark.parametrize("limit", [1, 2, 3, 100])
def test_case_57_what_waits_for_a_person_is_listed_the_most_urgent_first(store: SessionStore, limit: int) -> None:
    paused(store, a_call("c2-0", expires_at=moment(900)), a_call("c2-1"), a_call("c2-2"), a_call("c2-3"))
    paused(store, a_call(session_id="s2", expires_at=moment(800)), session_id="s2")
    paused(store, a_call(session_id="s3", requested_at=moment(0.5)), session_id="s3")
    store.mark_notified(store.call("s1", "c2-0"))
    store.mark_notified(store.call("s2", "c2-0"))
    in_doubt = brought(store, store.call("s1", "c2-1"), CallStatus.IN_DOUBT)  # since its deadline, at 50
    brought(store, store.call("s1", "c2-2"), CallStatus.REJECTED)
    brought(store, store.call("s1", "c2-3"), CallStatus.EXECUTING)

    listed = pages(lambda start: store.pending(limit=limit, after=start))

    calls = [call for page in listed for call in page]
    expected = [("s3", "c2-0"), ("s1", "c2-1"), ("s2", "c2-0"), ("s1", "c2-0")]
    assert [(call.session_id, call.call_id) for call in calls] == expected
    assert calls[1] == in_doubt
    assert all(len(page) <= limit for page in listed)


FILTERS = {
    "agent": Waiting(agent="porter"),
    "tool": Waiting(tool="pay"),
    "risk": Waiting(risk="high"),
    "session": Waiting(session_id="s2"),
    "status": Waiting(status=CallStatus.IN_DOUBT),
    "two": Waiting(tool="pay", session_id="s1"),
    "nothing": Waiting(agent="nobody"),
    "no_session": Waiting(session_id="s9"),
}


@pytest.mark.parametrize("limit", [1, 2, 100])
@pytest.mark.parametrize("where", FILTERS.values(), ids=FILTERS.keys())
def test_case_57_what_waits_is_filtered_and_its_pages_join(store: SessionStore, where: Waiting, limit: int) -> None:
    high = Presentation(risk="high")
    paused(store, a_call("c2-0"), a_call("c2-1", name="pay"), a_call("c2-2", presentation=high), a_call("c2-3"))
    brought(store, store.call("s1", "c2-3"), CallStatus.IN_DOUBT)
    others = {"session_id": "s2", "agent": "porter"}
    paused(store, a_call(**others), a_call("c2-1", name="pay", presentation=high, **others), session_id="s2")
    everything = [
        store.call(*place) for place in [("s1", f"c2-{n}") for n in range(4)] + [("s2", f"c2-{n}") for n in (0, 1)]
    ]

    listed = pages(lambda start: store.pending(limit=limit, after=start, where=where))

    found = [(call.session_id, call.call_id) for page in listed for call in page]
    wanted = [(call.session_id, call.call_id) for call in everything if where.includes(call)]
    assert sorted(found) == sorted(wanted)
    assert all(len(page) <= limit for page in listed)


@pytest.mark.parametrize("where", [Waiting(risk="high"), Waiting(session_id="s9"), ALL_WAITING])
def test_case_57_the_work_for_one_page_is_bounded_however_much_waits(
    table: Table, monkeypatch: pytest.MonkeyPatch, where: Waiting
) -> None:
    for name, size in {"_ROWS": 2, "_KEYS": 2, "_QUERIES": 3}.items():
        monkeypatch.setattr(f"pausepoint.adapters.dynamodb.listing.{name}", size)
    store, wire = table.faulty_store()
    calls = [a_call(f"c2-{number}") for number in range(9)]
    paused(store, *calls, a_call("c2-9", presentation=Presentation(risk="high"), expires_at=moment(2000)))
    store.mark_notified(store.call("s1", "c2-9"))
    for call in calls if where == ALL_WAITING else []:  # decided, and still in the index
        store.decide("s1", call.call_id, a_decision(call), token_hash=None)
    wire.sent.clear()

    first, following = store.pending(limit=1, after=None, where=where)

    assert (first, following is not None) == ([], True)
    assert wire.sent.count("Query") <= 3
    assert wire.sent.count("BatchGetItem") <= 3
    rest = pages(lambda start: store.pending(limit=1, after=start or following, where=where))
    assert [call.call_id for page in rest for call in page] == ([] if where.session_id else ["c2-9"])


def test_a_page_is_full_before_an_answer_gets_too_large(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pausepoint.adapters.dynamodb.listing._PAGE_CHARACTERS", 2 * len(a_call().arguments) - 1)
    store = table.store()
    paused(store, *(a_call(f"c2-{number}") for number in range(5)))

    listed = pages(lambda start: store.pending(limit=100, after=start))

    assert [len(page) for page in listed] == [2, 2, 1]


def test_nothing_waits_in_an_empty_store(store: SessionStore) -> None:
    assert store.pending(limit=10, after=None) == ([], None)
    assert store.sessions(None, limit=10, before=None) == ([], None)


NOT_A_PAGE = ["ä", "x", "bm8ganNvbg==", base64.urlsafe_b64encode(b"\xff").decode(), base64.b64encode(b"[]").decode()]


@pytest.mark.parametrize("start", [*NOT_A_PAGE, base64.b64encode(b'{"pk":{"S":"s1"}}').decode()])
def test_r09_a_page_that_no_list_has_given_is_refused(table: Table, start: str) -> None:
    store = table.store()
    paused(store, a_call())

    with pytest.raises(InvalidInput) as refused:
        store.pending(limit=1, after=start)

    assert refused.value.field == "next"


@pytest.mark.parametrize("start", ["ä", "x", base64.urlsafe_b64encode(b"\xff").decode()])
def test_r09_a_page_of_sessions_that_no_list_has_given_is_refused(table: Table, start: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        table.store().sessions(None, limit=1, before=start)

    assert refused.value.field == "next"
