"""After a call was in doubt: what still counts that comes late, what is told once, and what runs again."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pausepoint.domain.calls import Answer, CallStatus, PendingToolCall, model_told, resolved
from pausepoint.domain.events import CallReissued, LogEntry
from pausepoint.errors import AlreadyDecided, LostRace
from pausepoint.runtime.ports import Commit, FinishedCall, SessionStore
from tests.contract.conftest import Place
from tests.contract.test_doubt import ANSWERS, answer, in_doubt
from tests.support.stored import (
    MINE,
    RUNNING,
    a_call,
    a_lease,
    a_resolution,
    a_session,
    brought,
    closing,
    ended,
    moment,
    pausing,
)

# --- what comes late


@pytest.mark.parametrize("status", [CallStatus.SUCCEEDED, CallStatus.FAILED])
def test_the_late_result_of_the_execution_in_doubt_counts_and_is_the_last_word(
    place: Place, status: CallStatus
) -> None:
    store = place.store
    late = ended(in_doubt(store), status)

    store.commit(closing(store.load("s1"), late, "run-1"))

    assert store.call("s1", "c2-0") == late
    assert store.load("s1").results["c2-0"].text == "done"
    assert store.due(calls=True, before=moment(5000), limit=9) == []
    before = place.everything()
    for word in ANSWERS:
        with pytest.raises(AlreadyDecided):
            answer(store, word)
    assert place.everything() == before


def test_r43_the_late_result_of_another_execution_does_not_count(place: Place) -> None:
    store = place.store
    late = ended(in_doubt(store))
    before = place.everything()

    for execution_id in ("run-0", None):
        with pytest.raises(LostRace):
            store.commit(closing(store.load("s1"), late, execution_id))

    assert place.everything() == before


@pytest.mark.parametrize("status", [CallStatus.SUCCEEDED, CallStatus.FAILED])
@pytest.mark.parametrize("word", ANSWERS)
def test_r49_after_an_answer_a_late_result_does_not_count(place: Place, word: Answer, status: CallStatus) -> None:
    store = place.store
    late = ended(in_doubt(store), status)
    answer(store, word)
    before = place.everything()

    with pytest.raises(LostRace):
        store.commit(closing(store.load("s1"), late, "run-1"))

    assert place.everything() == before


@pytest.mark.parametrize("word", ANSWERS)
def test_r49_what_was_said_is_told_in_place_and_once(place: Place, word: Answer) -> None:
    store = place.store
    in_doubt(store)
    told = model_told(answer(store, word), outcome="It was said.")

    store.commit(closing(store.load("s1"), told, "run-1"))

    assert store.call("s1", "c2-0") == told
    assert store.due(calls=True, before=moment(5000), limit=9) == []
    before = place.everything()
    with pytest.raises(LostRace):
        store.commit(closing(store.load("s1"), told, "run-1"))
    assert place.everything() == before


@pytest.mark.parametrize("word", ["happened", "did_not_happen"])
def test_what_the_tools_own_check_found_is_recorded_with_the_call(store: SessionStore, word: Answer) -> None:
    found = a_resolution(word, by="delete's own check", verified="reconcile")
    told = model_told(resolved(in_doubt(store), found, token_hash=None), outcome="It was found.")

    store.commit(closing(store.load("s1"), told, "run-1"))

    assert store.call("s1", "c2-0") == told
    assert told.resolution == found


@pytest.mark.parametrize("word", ["happened", "did_not_happen"])
@pytest.mark.parametrize("first", ANSWERS)
def test_r49_after_a_persons_answer_the_tools_own_check_does_not_count(
    place: Place, first: Answer, word: Answer
) -> None:
    store = place.store
    found = a_resolution(word, by="delete's own check", verified="reconcile")
    told = model_told(resolved(in_doubt(store), found, token_hash=None), outcome="It was found.")
    answer(store, first)
    before = place.everything()

    with pytest.raises(LostRace):
        store.commit(closing(store.load("s1"), told, "run-1"))

    assert place.everything() == before


# --- running again


def reissuing(store: SessionStore) -> tuple[Commit, PendingToolCall, PendingToolCall]:
    """Return the write that puts another call in the place of one that is to run again, and both calls."""
    session = store.load("s1")
    told = model_told(session.calls["c2-0"], outcome="Asked again as c3-0.")
    again = a_call("c3-0", requested_at=moment(70))
    reissued = CallReissued(
        at=moment(70), call_id="c2-0", name="delete", reissued_as="c3-0", arguments=again.arguments, digest=again.digest
    )
    entry = LogEntry(first=session.next_seq, events=(reissued,))
    finished = FinishedCall(call=told, execution_id="run-1")
    commit = Commit(head=session.head, lease_id=MINE, at=moment(70), entry=entry, new_calls=(again,), finished=finished)
    return commit, told, again


def doubted_under_way(store: SessionStore) -> None:
    """Store a session whose runner holds the lease, with a call that is to run again."""
    store.create(a_session())
    store.commit(pausing(store.load("s1"), call := a_call(), status=None))
    brought(store, call, CallStatus.IN_DOUBT)
    answer(store, "run_again")


def test_r49_a_call_that_is_to_run_again_gives_its_place_to_another_in_one_piece(place: Place) -> None:
    store = place.store
    doubted_under_way(store)
    commit, told, again = reissuing(store)

    store.commit(commit)

    loaded = store.load("s1")
    assert loaded.calls == {"c2-0": told, "c3-0": again}
    assert [call.call_id for call in loaded.open_calls] == ["c3-0"]
    before = place.everything()
    with pytest.raises(LostRace):
        store.commit(commit)
    assert place.everything() == before


def lease_lost(store: SessionStore) -> None:
    store.lease("s1", a_lease("other", until=200), now=moment(100), statuses=frozenset({RUNNING}))


def taken_by_another(store: SessionStore) -> None:
    store.commit(reissuing(store)[0])


@pytest.mark.parametrize("rival", [lease_lost, taken_by_another])
def test_r49_a_call_is_put_before_a_person_anew_by_one_runner(
    place: Place, rival: Callable[[SessionStore], None]
) -> None:
    doubted_under_way(place.store)
    commit, _, _ = reissuing(place.store)
    rival(place.store)
    before = place.everything()

    with pytest.raises(LostRace):
        place.store.commit(commit)

    assert place.everything() == before
