"""At the same instant: one winner, and everybody else learns who it was."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from threading import Barrier

import pytest

from pausepoint.domain.calls import CallStatus, PendingToolCall, Verdict
from pausepoint.domain.session import SessionStatus
from pausepoint.errors import AlreadyDecided, LostRace, PausepointError, SessionBusy
from pausepoint.runtime.ports import SessionStore
from tests.support.stored import (
    PAUSED,
    RUNNING,
    a_call,
    a_decision,
    a_lease,
    a_question,
    a_session,
    an_execution,
    appending,
    brought,
    cancel,
    moment,
    paused,
    pausing,
    said,
)

ROUNDS = 4


def at_once(acts: Sequence[Callable[[], object]]) -> list[object]:
    """Do everything in the same instant; return each one's result, or the error of ours that it met."""
    barrier = Barrier(len(acts))

    def run(act: Callable[[], object]) -> object:
        barrier.wait(timeout=10)
        try:
            return act()
        except PausepointError as error:
            return error

    with ThreadPoolExecutor(len(acts)) as pool, _nervous_threads():
        return list(pool.map(run, acts))


@contextmanager
def _nervous_threads() -> Iterator[None]:
    """Change threads so often that a gap between looking and writing in memory is found."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(interval)


def rounds(store: SessionStore, *calls: PendingToolCall) -> list[str]:
    """Store a fresh session for each round and return their ids."""
    ids = [f"s{number}" for number in range(ROUNDS)]
    for session_id in ids:
        paused(store, *(replace(call, session_id=session_id) for call in calls), session_id=session_id)
    return ids


def the_winner(outcomes: Sequence[object], lost: type[PausepointError]) -> int:
    """Return the index of the only act that did not lose; check that all others lost in this way."""
    (winner,) = (index for index, outcome in enumerate(outcomes) if not isinstance(outcome, lost))
    assert not isinstance(outcomes[winner], PausepointError)
    return winner


@pytest.mark.parametrize(
    ("asked", "verdicts"),
    [(a_call(), ["approved"] * 16), (a_call(), ["approved", "rejected"] * 8), (a_question(), ["answered"] * 16)],
    ids=["approvals", "approvals_and_rejections", "answers"],
)
def test_case_37_of_sixteen_decisions_one_stands_and_the_others_see_it(
    store: SessionStore, asked: PendingToolCall, verdicts: list[Verdict]
) -> None:
    for session_id in rounds(store, asked):
        call = store.call(session_id, "c2-0")
        decisions = [
            a_decision(call, verdict, by=f"approver {n}", answer=str(n) if verdict == "answered" else None)
            for n, verdict in enumerate(verdicts)
        ]

        outcomes = at_once([partial(store.decide, session_id, "c2-0", each, token_hash=None) for each in decisions])

        winner = the_winner(outcomes, AlreadyDecided)
        standing = store.call(session_id, "c2-0")
        assert outcomes.pop(winner) == standing
        assert standing.decision == decisions[winner]
        assert [outcome.call for outcome in outcomes if isinstance(outcome, AlreadyDecided)] == [standing] * 15


def test_case_37_of_eight_claims_one_enters_the_tool(store: SessionStore) -> None:
    for session_id in rounds(store, a_call()):
        approved = brought(store, store.call(session_id, "c2-0"), CallStatus.APPROVED)
        executions = [an_execution(approved, f"run-{number}") for number in range(8)]

        outcomes = at_once([partial(store.claim, session_id, "c2-0", execution) for execution in executions])

        standing = store.call(session_id, "c2-0")
        assert standing.execution == executions[the_winner(outcomes, LostRace)]
        assert standing.attempts == 1


def test_r52_of_eight_runners_one_appends(store: SessionStore) -> None:
    for session_id in rounds(store, a_call()):
        session = store.load(session_id)
        commits = [appending(session, said(f"runner {number}"), said("more")) for number in range(8)]

        outcomes = at_once([partial(store.commit, commit) for commit in commits])

        winner = the_winner(outcomes, LostRace)
        assert store.load(session_id).events[2:] == (said(f"runner {winner}"), said("more"))


def test_of_eight_runners_one_gets_the_lease(store: SessionStore) -> None:
    for session_id in rounds(store, a_call()):
        leases = [a_lease(f"runner {number}", until=200) for number in range(8)]
        statuses = frozenset({PAUSED, RUNNING})

        outcomes = at_once(
            [partial(store.lease, session_id, each, now=moment(100), statuses=statuses) for each in leases]
        )

        assert store.head(session_id).lease == leases[the_winner(outcomes, SessionBusy)]


def test_case_43_of_eight_creations_one_stands(store: SessionStore) -> None:
    for number in range(ROUNDS):
        sessions = [a_session(f"s{number}", text=f"creator {creator}") for creator in range(8)]

        outcomes = at_once([partial(store.create, session) for session in sessions])

        assert store.load(f"s{number}") == sessions[the_winner(outcomes, LostRace)]


def test_case_48_a_pause_and_a_cancellation_do_not_both_happen(store: SessionStore) -> None:
    for number in range(ROUNDS):
        session = a_session(f"s{number}")
        store.create(session)
        call = a_call(session_id=f"s{number}")

        outcomes = at_once([partial(store.commit, pausing(session, call)), partial(cancel, store, session)])

        loaded = store.load(f"s{number}")
        assert len(loaded.events) == 2
        if the_winner(outcomes, LostRace) == 0:
            assert (loaded.head.status, loaded.calls) == (PAUSED, {"c2-0": call})
        else:
            assert (loaded.head.status, loaded.calls) == (SessionStatus.CANCELLED, {})


def test_case_48_a_decision_and_a_cancellation_do_not_both_happen(store: SessionStore) -> None:
    for session_id in rounds(store, a_call("c2-0"), a_call("c2-1")):
        session = store.load(session_id)
        decision = a_decision(session.calls["c2-1"])

        decided, cancelled = at_once(
            [partial(store.decide, session_id, "c2-1", decision, token_hash=None), partial(cancel, store, session)]
        )

        loaded = store.load(session_id)
        statuses = [call.status for call in loaded.calls.values()]
        if isinstance(decided, AlreadyDecided):
            assert cancelled is None
            assert decided.call.status is CallStatus.CANCELLED
            assert (loaded.head.status, statuses) == (SessionStatus.CANCELLED, ["cancelled", "cancelled"])
        else:
            assert isinstance(cancelled, LostRace)
            assert (loaded.head.status, statuses) == (PAUSED, ["pending", "approved"])


def test_decisions_on_the_calls_of_one_turn_do_not_disturb_each_other(store: SessionStore) -> None:
    for session_id in rounds(store, *(a_call(f"c2-{number}") for number in range(8))):
        calls = store.load(session_id).calls.values()

        outcomes = at_once(
            [partial(store.decide, session_id, call.call_id, a_decision(call), token_hash=None) for call in calls]
        )

        assert [getattr(outcome, "status", outcome) for outcome in outcomes] == ["approved"] * 8
